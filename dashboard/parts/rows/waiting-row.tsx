import type { VNode } from 'preact';
import type { WaitingRow as WaitingFacts } from '../../../src/client/schema/now.ts';
import { type KeptRow, offeredNow, waitingActions } from '../../data/issue/issue-rows.ts';
import { issueSpot, useIssueActions } from '../issue/issue-actions.tsx';
import { Text } from '../shared/text.tsx';
import { Countdown } from '../shared/time.tsx';
import { Row } from './row.tsx';

const words = { retry: 'retry', quota: 'quota', queue: 'queued' } as const;

export function WaitingRow({ placed, place, isGone }: KeptRow<WaitingFacts>): VNode {
  const { project, row } = placed;
  const spot = issueSpot(project, row.issue_id, `${row.key} ${row.attempt} ${row.next_check_at}`, place);
  const actions = isGone ? offeredNow(project, row.issue_id) : waitingActions[row.kind];
  const { buttons, below } = useIssueActions({ spot, place, issue: row, actions, isGone });
  return (
    <Row
      project={project}
      row={row}
      isGone={isGone}
      tone="waiting"
      word={row.kind === 'retry' && row.attempt !== null ? `retry ${row.attempt}` : words[row.kind]}
      time={<Countdown at={row.next_check_at} />}
      what={
        <p>
          <Text text={row.reason} />
        </p>
      }
      actions={buttons}
      below={below}
    />
  );
}
