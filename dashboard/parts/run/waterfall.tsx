import { useComputed, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Run } from '../../../src/client/schema/run.ts';
import { now } from '../../data/page/clock.ts';
import { axisFor, lastedMs, tickWords } from '../../data/run/waterfall-bars.ts';
import { WaterfallRun } from './waterfall-run.tsx';

interface WaterfallProps {
  readonly project: string;
  /** The newest first. */
  readonly runs: readonly Run[];
}

/** The newest runs are read at once, the others when they become visible. */
const readAtOnce = 3;
/** The axis grows by steps, so that it does not move each second. */
const axisStepMs = 15_000;

/** The runs of an issue, one line each, on a common axis from the start of each run, so that durations compare. */
export function Waterfall({ project, runs }: WaterfallProps): VNode {
  const current = useSignal(runs);
  current.value = runs;
  const longest = useComputed(() => {
    const live = current.value.some(({ ended_at }) => ended_at === null);
    const ms = Math.max(0, ...current.value.map((run) => lastedMs(run, now.value)));
    return live ? Math.ceil(ms / axisStepMs) * axisStepMs : ms;
  });
  const axis = axisFor(longest.value);
  return (
    <div class="waterfall">
      <div class="axis" aria-hidden="true">
        <div class="track">
          {axis.ticks.map((at) => (
            <span key={at} style={{ left: `${(at / axis.ms) * 100}%` }}>
              {tickWords(axis, at)}
            </span>
          ))}
        </div>
      </div>
      <ol>
        {runs.map((run, index) => (
          <WaterfallRun key={run.run_id} project={project} run={run} axis={axis} isReadAtOnce={index < readAtOnce} />
        ))}
      </ol>
      <p class="legend" aria-hidden="true">
        <span class="bar turn" /> turn <span class="bar tool" /> tool <span class="bar question" /> question{' '}
        <span class="bar stage" /> stage <span class="bar tool bad" /> failed
      </p>
    </div>
  );
}
