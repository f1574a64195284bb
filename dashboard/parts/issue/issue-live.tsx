import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { stageWords } from '../../../src/core/run/run.ts';
import { projects } from '../../data/connection/live.ts';
import { linkTo, place, runHref } from '../../data/page/router.ts';
import { Cost, Tokens } from '../costs/amount.tsx';
import { Fact } from '../shared/fact.tsx';
import { Text } from '../shared/text.tsx';
import { Duration, TimeAgo } from '../shared/time.tsx';

interface IssueLiveProps {
  readonly project: string;
  readonly issueId: string;
}

/** The current activity of its agent; nothing while no agent works on it. */
export function IssueLive({ project, issueId }: IssueLiveProps): VNode | null {
  const rows = projects.value?.get(project)?.running.values() ?? [];
  const row = [...rows].find(({ issue_id }) => issue_id === issueId);
  const id = useId();
  if (row === undefined) return null;
  return (
    <section class="live" aria-labelledby={id}>
      <h2 id={id}>Current run</h2>
      <div class={`tone ${row.waits_for_person ? 'needs' : 'running'}`}>
        <p class="last">
          {row.last_message === null ? 'The agent has not sent a message yet.' : <Text text={row.last_message} />}{' '}
          {row.last_event_at !== null && (
            <small>
              <TimeAgo at={row.last_event_at} />
            </small>
          )}
        </p>
        <dl class="line-of-facts">
          <Fact name="stage">{stageWords(row.stage)}</Fact>
          <Fact name="turn">{row.turn}</Fact>
          <Fact name="running for">
            <Duration from={row.started_at} />
          </Fact>
          <Fact name="tokens">
            <Tokens count={row.usage.total_tokens} />
          </Fact>
          <Fact name="cost">
            <Cost of={row.usage} />
          </Fact>
          <Fact name="more">
            <a href={linkTo(place.value.path, { tab: 'transcript' })}>Transcript</a>
            {' · '}
            <a href={runHref(project, row.run_id)}>Run</a>
          </Fact>
        </dl>
        {row.warnings.map(({ limit, text }) => (
          <p key={limit} class="warning-line">
            <Text text={text} />
          </p>
        ))}
      </div>
    </section>
  );
}
