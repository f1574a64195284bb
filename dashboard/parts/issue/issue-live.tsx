import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import { stageWords } from '../../../src/core/run/run.ts';
import { projects } from '../../data/connection/live.ts';
import { issueHref, runHref } from '../../data/page/router.ts';
import { reasonWords } from '../../data/text/gate-words.ts';
import { attemptWords, outcomeOf } from '../run/run-words.ts';
import { Markdown } from '../shared/markdown.tsx';
import { Status } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { Duration, TimeAgo } from '../shared/time.tsx';

interface IssueLiveProps {
  readonly project: string;
  readonly issue: IssueDetail;
}

/** What its agent does now or, while no agent works on it, the last words of the last one. */
export function IssueLive({ project, issue }: IssueLiveProps): VNode | null {
  const rows = projects.value?.get(project)?.running.values() ?? [];
  const row = [...rows].find(({ issue_id }) => issue_id === issue.id);
  const id = useId();
  if (row === undefined) return <LastWords project={project} issue={issue} />;
  return (
    <section class="live" aria-labelledby={id}>
      <h2 id={id}>The agent now</h2>
      <div class={`tone ${row.waits_for_person ? 'needs' : 'running'}`}>
        <p class="quiet-text">
          {row.waits_for_person ? 'waits for your answer' : stageWords(row.stage)} · turn {row.turn} · running for{' '}
          <Duration from={row.started_at} />
          {row.last_event_at !== null && (
            <>
              {' · last event '}
              <TimeAgo at={row.last_event_at} />
            </>
          )}{' '}
          · <a href={issueHref(project, issue.identifier, { tab: 'transcript' })}>Transcript</a> ·{' '}
          <a href={runHref(project, row.run_id)}>Run</a>
        </p>
        <p class="last">
          {row.last_message === null ? 'The agent has not sent a message yet.' : <Text text={row.last_message} />}
        </p>
        {row.hold_afterwards !== undefined && (
          <p class="warning-line">
            Held after this run: <Text text={row.hold_afterwards.text} />
          </p>
        )}
        {row.warnings.map(({ limit, text }) => (
          <p key={limit} class="warning-line">
            <Text text={text} />
          </p>
        ))}
      </div>
    </section>
  );
}

function LastWords({ project, issue }: IssueLiveProps): VNode | null {
  const id = useId();
  const run = issue.runs[0];
  if (run === undefined) return null;
  const { last_message, error_message, ended_at } = run;
  const words = last_message ?? error_message;
  return (
    <section class="last-words" aria-labelledby={id}>
      <h2 id={id}>The last run</h2>
      <div class={`tone ${outcomeOf(run).tone}`}>
        {words === null ? (
          <p class="none">The agent said nothing.</p>
        ) : last_message === null ? (
          <p>
            <Text text={reasonWords(words)} lines />
          </p>
        ) : (
          <Markdown source={words} />
        )}
        <p class="quiet-text">
          <Status {...outcomeOf(run)} />
          {', '}
          {attemptWords(run)}, after <Duration from={run.started_at} to={ended_at} />
          {ended_at !== null && (
            <>
              {' · '}
              <TimeAgo at={ended_at} />
            </>
          )}{' '}
          · <a href={runHref(project, run.run_id)}>Show the run</a>
        </p>
      </div>
    </section>
  );
}
