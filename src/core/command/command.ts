/**
 * A request to change scheduling state. Anyone may write one; only the orchestrator carries it out, once, in order.
 *
 * - `pause`: nothing new starts, runs in progress continue. Holds until `resume`, also over a restart.
 * - `drain`: nothing new starts, and when the last run has ended the daemon ends.
 * - `issue_retry`: retries the issue now: lifts a hold, cuts a wait short, and passes a note to the agent.
 * - `issue_hold`: no new run starts on the issue; a run in progress continues to its end.
 * - `issue_release`: lifts a hold.
 * - `issue_stop`: ends the run in progress, then holds the issue.
 * - `issue_steer`: sends a message to the agent in the middle of its run.
 * - `issue_takeover`: ends the run in progress and holds the issue for a person who continues by hand.
 * - `issue_handback`: the run after a person's work by hand: continues from the workspace as it is.
 * - `question_answer`: answers an open question of an agent.
 * - `issue_move`, `issue_comment`, `issue_file`, `issue_edit`: changes of the issues themselves, where they are Baton's own.
 * - `phase_move`: sends an issue to a phase of the pipeline, forward or back.
 * - `phase_approve`, `phase_reject`: a person decides about the artifact of a phase in the place of its judge.
 * - `artifact_put`: a person's version of the artifact of a phase.
 * - `intake_begin`: an agent reads a text and proposes issues.
 * - `scan_begin`: an agent looks for improvements and proposes issues.
 * - `setup_begin`: an agent finds out how the repository is built and tested, and proposes commands.
 * - `learn_begin`: an agent reads what happened lately, and proposes what later agents should know.
 * - `learning_add`, `learning_edit`, `learning_veto`, `learning_restore`: a person decides what later agents get to know.
 * - `task_accept`, `task_refuse`: a person decides about what the agent of a task proposed.
 * - `task_retry`: a task that failed is tried again.
 * - `reload`: lets changes of the workflow file count that waited for a person.
 * - `pr_approve`, `pr_merge`, `pr_send_back`, `pr_close`: a person's decision about a change under review.
 * - `pr_check`: runs checks of a change under review again.
 * - `workspaces_prune`: removes the workspaces of these issues, where they may be removed.
 * - `prune`: removes everything that is past its retention; it is answered when that is done.
 * - `workspace_pin`, `workspace_unpin`: the workspace of an issue stays until it is unpinned.
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
  'pr_approve',
  'pr_merge',
  'pr_send_back',
  'pr_close',
  'pr_check',
  'phase_move',
  'phase_approve',
  'phase_reject',
  'artifact_put',
  'intake_begin',
  'scan_begin',
  'setup_begin',
  'learn_begin',
  'learning_add',
  'learning_edit',
  'learning_veto',
  'learning_restore',
  'task_accept',
  'task_refuse',
  'task_retry',
  'reload',
  'workspaces_prune',
  'prune',
  'workspace_pin',
  'workspace_unpin',
] as const;

export type CommandKind = (typeof commandKinds)[number];

/** Commands that a run (its agent or its hook) may give too, about its own issue: they only stop its own work. */
const stopsOwnWork: ReadonlySet<CommandKind> = new Set(['issue_hold', 'issue_stop']);

/** Why a run may not ask for this; null when it may. It may also move its own issue, as its agent can with a tool. */
export function whyNotForRuns(kind: CommandKind, isOwnIssue: boolean): string | null {
  if (!stopsOwnWork.has(kind) && kind !== 'issue_move')
    return 'Only a person may give this command; an agent has its tools.';
  return isOwnIssue ? null : 'Only a person may do this to the work of others; an agent may stop its own run.';
}

export function isCommandKind(kind: string): kind is CommandKind {
  return (commandKinds as readonly string[]).includes(kind);
}
