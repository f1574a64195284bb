/**
 * A request to change scheduling state. Everybody may write one; only the orchestrator carries it out, once, in order.
 *
 * - `pause`: nothing new starts, runs in progress go on. Holds until `resume`, also over a restart.
 * - `drain`: nothing new starts, and when the last run has ended the daemon ends.
 * - `issue_retry`: the issue is looked at now: a hold is lifted, a wait is cut short; its agent is told a note.
 * - `issue_hold`: no new run starts on the issue; one in progress goes on to its end.
 * - `issue_release`: lifts a hold.
 * - `issue_stop`: ends the run in progress, then the issue is held.
 * - `issue_steer`: says something to the agent in the middle of its run.
 * - `issue_takeover`: ends the run in progress and holds the issue for a person who goes on by hand.
 * - `issue_handback`: the run after a takeover: goes on from what is there.
 * - `question_answer`: answers an open question of an agent.
 * - `issue_move`, `issue_comment`, `issue_file`, `issue_edit`: changes of the issues themselves, where they are Baton's own.
 * - `workspaces_prune`: the workspaces of these issues are removed, where they may go.
 */
export const commandKinds = [
  'pause',
  'resume',
  'drain',
  'issue_retry',
  'issue_hold',
  'issue_release',
  'issue_stop',
  'issue_steer',
  'issue_takeover',
  'issue_handback',
  'question_answer',
  'issue_move',
  'issue_comment',
  'issue_file',
  'issue_edit',
  'workspaces_prune',
] as const;

export type CommandKind = (typeof commandKinds)[number];

/** What a run, its agent or a hook of it, may ask for too: nothing starts, and nothing costs more, because of it. */
const onlyStopsWork: ReadonlySet<CommandKind> = new Set(['pause', 'drain', 'issue_hold', 'issue_stop']);

/** Why a run may not ask for this; null when it may. */
export function whyNotForRuns(kind: CommandKind): string | null {
  return onlyStopsWork.has(kind) ? null : 'Only a person may give this command; an agent has its tools.';
}

export function isCommandKind(kind: string): kind is CommandKind {
  return (commandKinds as readonly string[]).includes(kind);
}
