import { needsYou } from '../connection/live.ts';
import { sendAndNotify } from '../connection/send-and-notify.ts';
import { actionsNamed, type IssueAction } from '../text/command-words.ts';
import { activityOf } from './activity.ts';
import type { QueueRow } from './queue-rows.ts';

/** The actions of the queue; all others are on the issue. */
const offered: ReadonlySet<string> = new Set(['issue_retry', 'issue_hold', 'issue_release']);

/** The actions for the current state of a candidate. For a held one the daemon decides. */
export function queueActions({ project, candidate: { issue_id } }: QueueRow): readonly IssueAction[] {
  const held = needsYou.value.find(({ project: of, row }) => of === project && row.issue_id === issue_id);
  const names =
    held?.row.actions ??
    (activityOf(project, issue_id) === 'retrying' ? ['issue_retry', 'issue_hold'] : ['issue_hold']);
  return actionsNamed(names, []).filter(({ name }) => offered.has(name));
}

/** Sends the command; a row of the queue has no space for an answer. */
export async function actOnRow(row: QueueRow, action: IssueAction): Promise<void> {
  await sendAndNotify(row.project, action.request(row.candidate.issue_id, ''));
}
