import type { VNode } from 'preact';
import type { RunningRow as RunningFacts } from '../../../src/client/schema/now.ts';
import { stageWords } from '../../../src/core/run/run.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { type KeptRow, offeredNow, runningActions } from '../../data/issue/issue-rows.ts';
import { Cost, Tokens } from '../costs/amount.tsx';
import { issueSpot, useIssueActions } from '../issue/issue-actions.tsx';
import { Text } from '../shared/text.tsx';
import { Duration, TimeAgo } from '../shared/time.tsx';
import { PhaseOfRow } from './phase-of-row.tsx';
import { Row } from './row.tsx';
import { WatchLink } from './watch-link.tsx';

export function RunningRow({ placed, place, isGone }: KeptRow<RunningFacts>): VNode {
  const { project, row } = placed;
  const spot = issueSpot(project, row.issue_id, row.run_id, place);
  const actions = isGone ? offeredNow(project, row.issue_id) : runningActions(row);
  const { buttons, below } = useIssueActions({ spot, place, issue: row, actions, run: row.run_id, isGone });
  const tone = row.waits_for_person ? 'needs' : 'running';
  return (
    <Row
      project={project}
      row={row}
      isGone={isGone}
      tone={tone}
      word={row.waits_for_person ? 'asks you' : stageWords(row.stage)}
      time={<Duration from={row.started_at} />}
      what={
        <>
          <PhaseOfRow phase={row.phase} isRunning />
          <p class="one-line" title={harmlessLine(row.last_message ?? '')}>
            {row.last_message === null ? (
              <span class="none">no message yet</span>
            ) : (
              <>
                <Text text={row.last_message} />{' '}
                <small>
                  <TimeAgo at={row.last_event_at} />
                </small>
              </>
            )}
          </p>
          {row.hold_afterwards !== undefined && (
            <p data-part="hold_afterwards">
              Held after this run: <Text text={row.hold_afterwards.text} />
            </p>
          )}
          {row.warnings.map(({ limit, level, text }) => (
            <p key={limit} class={`warning ${level}`}>
              <Text text={text} />
            </p>
          ))}
        </>
      }
      facts={
        <dl class="run-facts">
          <div>
            <dt>turn</dt>
            <dd class="number">{row.turn}</dd>
          </div>
          <div>
            <dt>tokens</dt>
            <dd>
              <Tokens count={row.usage.total_tokens} />
            </dd>
          </div>
          <div>
            <dt class="unseen">cost</dt>
            <dd>
              <Cost of={row.usage} />
            </dd>
          </div>
        </dl>
      }
      actions={
        <div class="actions">
          {buttons}
          <WatchLink project={project} runId={row.run_id} identifier={row.issue_identifier} />
        </div>
      }
      below={below}
    />
  );
}
