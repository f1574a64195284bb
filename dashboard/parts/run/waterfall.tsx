import { useComputed, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { Run } from '../../../src/client/schema/run.ts';
import { now } from '../../data/page/clock.ts';
import { timeAxis } from '../../data/run/time-axis.ts';
import { clockWords, durationWords } from '../../data/text/words.ts';
import { Status } from '../shared/status.tsx';
import { Countdown } from '../shared/time.tsx';
import { WaitBar, WaterfallRun } from './waterfall-run.tsx';

interface WaterfallProps {
  readonly project: string;
  readonly issue: Pick<IssueDetail, 'held' | 'retry'>;
  /** The newest first. */
  readonly runs: readonly Run[];
}

/** The newest runs are read at once, the others when they become visible. */
const readAtOnce = 3;

/** The runs of an issue, one line each, and the waits between them, on one time axis. */
export function Waterfall({ project, issue, runs }: WaterfallProps): VNode {
  const { held, retry } = issue;
  const current = useSignal({ runs, isWaiting: false });
  current.value = { runs, isWaiting: held !== null || retry !== null };
  // The clock matters only while something lasts.
  const axis = useComputed(() => {
    const { runs: all, isWaiting } = current.value;
    const isLive = isWaiting || all.some(({ ended_at }) => ended_at === null);
    return timeAxis(all, isLive ? now.value : 0, isWaiting);
  }).value;
  return (
    <div class="waterfall">
      <div class="axis" aria-hidden="true">
        <div class="track">
          {axis.marks.map(({ left, at }) => (
            <span key={at} style={{ left: `${left}%` }}>
              {clockWords(Date.parse(at), true)}
            </span>
          ))}
        </div>
      </div>
      <ol>
        {axis.now !== null && (
          <li class={`tone ${held === null ? 'waiting' : 'needs'}`} data-part="waits_now">
            <strong>now</strong>
            <span class="attempt">{held === null ? 'waits' : 'on hold'}</span>
            <div class="track" role="img" aria-label={`waits for ${durationWords(axis.now.ms)}`}>
              <WaitBar wait={axis.now} why={held === null ? 'for its retry' : 'on hold'} />
            </div>
            <span class="outcome">
              {held === null ? (
                <>
                  retry <Countdown at={retry?.due_at ?? null} />
                </>
              ) : (
                <Status tone="needs" word="held" />
              )}
            </span>
            <span class="number">{durationWords(axis.now.ms)}</span>
          </li>
        )}
        {runs.map((run, index) => (
          <WaterfallRun
            key={run.run_id}
            project={project}
            run={run}
            place={axis.runs.get(run.run_id) ?? null}
            isReadAtOnce={index < readAtOnce}
          />
        ))}
      </ol>
      <p class="legend" aria-hidden="true">
        <span class="bar turn" /> turn <span class="bar tool" /> tool <span class="bar question" /> question{' '}
        <span class="bar stage" /> stage <span class="bar tool bad" /> failed <span class="bar wait" /> wait
        {[...axis.runs.values(), { wait: axis.now }].some(({ wait }) => wait?.isShortened) && (
          <>
            {' '}
            <span class="bar wait shortened" /> long wait, drawn shorter
          </>
        )}
      </p>
    </div>
  );
}
