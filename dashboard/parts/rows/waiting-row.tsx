import type { VNode } from 'preact';
import type { WaitingRow as WaitingFacts } from '../../../src/client/schema/now.ts';
import { type KeptRow, offeredNow, waitingActions } from '../../data/issue/issue-rows.ts';
import { reasonWords } from '../../data/text/gate-words.ts';
import { sentences } from '../../data/text/words.ts';
import { issueSpot, useIssueActions } from '../issue/issue-actions.tsx';
import { Priority } from '../shared/priority.tsx';
import { Text } from '../shared/text.tsx';
import { Countdown } from '../shared/time.tsx';
import { PhaseOfRow } from './phase-of-row.tsx';
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
      // A queued issue waits for its turn, which its priority decides: the next poll is not its start.
      time={row.kind === 'queue' ? <Priority of={row.priority ?? null} /> : <Countdown at={row.next_check_at} />}
      what={
        <>
          <PhaseOfRow phase={row.phase} />
          <p>
            <Text text={sentences(reasonWords(row.reason))} />
          </p>
        </>
      }
      actions={buttons}
      below={below}
    />
  );
}
