import type { AnyErrorCode } from '../error-catalogue.ts';

/** Answers to a command that was carried out, or whose effect was already there. */
const doneAnswers = {
  // all work
  paused: 'No new work starts; runs in progress continue.',
  draining: 'No new work starts, and Baton stops when the last run has ended.',
  resumed: 'New work starts again.',
  resumed_with_allowance: 'New work starts again, with another allowance for today.',
  reloaded: 'The changes of the workflow file that waited for a person have taken effect.',
  workspaces_being_removed: 'The daemon has begun to remove the workspaces.',
  pruned: 'Everything that was past its retention is removed, except what the answer names.',
  workspace_pinned: 'The workspace of the issue stays until it is unpinned.',
  workspace_unpinned: 'The workspace of the issue is no longer pinned.',

  // retry, hold, release, stop
  retry_now: 'The issue is retried now; it is no longer waiting or on hold.',
  held: 'The issue is on hold.',
  held_after_run: 'The issue goes on hold when its run ends.',
  already_held: 'The issue is on hold because a person or an agent asked for it before.',
  released: 'The issue is no longer on hold.',
  released_after_run: 'The issue no longer goes on hold when its run ends.',
  already_released: 'The issue was released before.',
  stopping: 'The run is being stopped; then the issue goes on hold.',
  already_stopping: 'The run is being stopped because of an earlier command.',
  already_stopped: 'The run was stopped by an earlier command.',

  // take over, hand back
  taken_over: 'A person has the issue; no agent works on it.',
  taking_over_after_run: 'The run is being stopped; then a person has the issue.',
  already_taken_over: 'A person has the issue because of an earlier command.',
  handed_back: 'The issue is handed back; an agent continues the work.',
  already_handed_back: 'The issue was handed back before.',

  // messages to an agent, answers to its questions
  message_delivered: 'The agent has the message.',
  message_waits_for_turn: 'The agent gets the message at its next turn.',
  message_uncertain: 'The daemon stopped while it delivered the message; the agent may have it or not.',
  answer_delivered: 'The agent that asked has the answer.',
  answer_kept: 'The next run of the issue gets the answer.',
  answer_kept_others_open: 'The answer is kept; the issue still waits for the answer to another question.',
  continues_with_answer: 'The issue was on hold for the answer and continues with it.',

  // changes of an issue on the board
  issue_filed: 'The issue is on the board.',
  issue_edited: 'The fields of the issue are changed.',
  issue_moved: 'The issue has its new status.',
  comment_added: 'The comment is on the issue.',
  comment_uncertain: 'Baton was interrupted while it wrote the comment; it may be there or not.',

  // decisions about a change under review
  change_approved: 'The change is approved, as it is now.',
  change_merged: 'The change is in its base, and its issue is done.',
  change_sent_back: 'The change goes back to the agent, with the words of the person.',
  checks_again: 'The checks run again on the commit that is in review.',
  change_closed: 'The pull request is closed; its branch and its issue stay as they are.',

  // the pipeline
  phase_moved: 'The issue is in the phase that the command names.',
  artifact_approved: 'The artifact is approved, and the issue is in its next phase.',
  artifact_rejected: 'The artifact goes back to its agent, with the words of the person.',
  artifact_stored: 'The version of the person is the newest version of the artifact.',

  // tasks
  task_waits: 'The task waits for an agent; `data.task` is its id.',
  proposals_accepted: 'The accepted proposals are filed; `data.filed` has the identifiers.',
  learnings_accepted: 'The accepted learnings are noted; `data.learnings` has their ids.',
  learning_added: 'The learning is noted; `data.learning` is its id.',
  learning_edited: 'The learning has the new text; its trial begins again.',
  learning_vetoed: 'No agent gets the learning any more.',
  learning_restored: 'Agents get the learning again; its trial begins again.',
  task_refused: 'The proposals are refused; nothing is filed for them.',
  setup_accepted: 'The commands of the setup are in the workflow file; `data.revision` identifies its new content.',
} as const satisfies Record<string, string>;

/** Answers to a command that was not carried out. One that failed with an error has the code of that error. */
const refusals = {
  // the command itself
  unknown_command: 'This version of Baton does not have this command.',
  not_for_agents: 'Only a person may give this command; this one came from a run.',
  no_issue_named: 'The command needs an issue and names none.',
  command_expired: 'The command waited for too long before a daemon could carry it out.',

  // all work
  already_paused: 'Baton is paused.',
  already_draining: 'Baton is draining.',
  not_paused: 'Baton is not paused, and no limit of the day is reached.',
  nothing_to_reload: 'No change of the workflow file waits for a person.',
  other_changes_wait: 'The workflow file was changed again after the changes that the command names.',

  // the issue
  issue_not_found: 'There is no such issue.',
  active_issue_not_found:
    'There is no such issue in an active state, and Baton has never worked on an issue of that name.',
  issue_not_active: 'The issue is in a state that is not active, so no agent will work on it.',
  already_running: 'An agent is working on the issue.',
  not_running: 'No agent is working on the issue.',
  run_ending: 'The run is being stopped.',
  run_already_ended: 'The run that the command names has ended; the run in progress was not stopped.',
  unknown_agent: 'The workflow file has no agent of that name.',
  not_waiting: 'The issue is neither on hold nor waiting for a retry.',
  held_for_another_reason: 'The issue is on hold for a reason other than `hold` or `stop`.',
  not_held: 'The issue is not on hold.',
  not_pinned: 'The workspace of the issue is not pinned.',
  not_taken_over: 'No person has taken over the issue.',
  nothing_to_say: 'The command has no text for the agent.',
  message_not_taken: 'The run cannot take the message; `data.problem` says why.',
  no_daemon: 'The command needs a running daemon, and none answers.',
  key_in_use: 'The key of the command belongs to another command.',

  // questions
  question_closed: 'The question is closed; no agent waits for an answer.',
  question_answered: 'The question has another answer already.',
  invalid_answer: 'The answer does not fit the question.',

  // decisions about a change under review
  pull_ended: 'The pull request is merged or closed.',
  head_moved: 'The commit that the command names is no longer the one in review.',
  change_sent_back_before: 'The change was sent back and is not in review now.',
  check_not_found: 'The workflow file has no such check; `data.checks` has the names.',
  nothing_to_check: 'Every check of the commit has passed, or the workflow file has none.',
  not_merged: 'The change was not merged; `data.problem` says why.',

  // the pipeline
  no_pipeline: 'The workflow file lists no phases.',
  unknown_phase: 'The pipeline has no such phase; `data.phases` has the names.',
  not_in_pipeline: 'The issue has not entered the pipeline.',
  nothing_to_approve: 'The phase of the issue has no artifact that a person could approve.',
  nothing_to_reject: 'The phase of the issue has no artifact that waits for a decision.',
  artifact_too_large: 'The artifact is larger than its phase allows.',

  // tasks
  task_not_open: 'The task has no open proposals; `data.status` is its state.',
  unknown_proposal: 'The task has no open proposal with this number.',
  role_off:
    'The role in `data.role` is switched off in the workflow file, or both its limits (`runs_per_day`, `usd_per_day`) are 0.',
  role_budget_used: 'The budget of the role in `data.role` is used up for today.',
  task_undecided: 'The last proposals still wait for a decision; `data.task` is their task.',
  nothing_to_learn: 'Since the last run of the learner, nothing has happened that could teach something.',
  learning_too_long: 'The text of the learning is longer than `data.most` characters.',
  no_repository: 'The workflow file names no repository (`workspace.repo`), and a setup needs one.',
  written_by_person: 'Only `baton setup accept` accepts a setup, because it also writes the workflow file.',
  not_failed: 'The task has not failed, so it cannot be tried again.',

  // changes of an issue
  tracker_elsewhere: 'The issues are in another tracker; change them there.',
} as const satisfies Record<string, string>;

/**
 * Every answer of Baton to a command: its stable code and the meaning of the code.
 *
 * Programs and tests look for the code, so the sentence in an answer may change at any time. docs/command-answers.md lists
 * the same table, and a test compares the two.
 */
export const commandAnswers = {
  ...doneAnswers,
  ...refusals,
} as const;

export type CommandAnswerCode = keyof typeof commandAnswers;

/** The answer to a command: carried out, or refused with the reason. */
export interface CommandAnswer {
  readonly status: 'done' | 'refused';
  /** A refusal that comes from an error has the code of that error. */
  readonly code: CommandAnswerCode | AnyErrorCode;
  readonly text: string;
  /** The facts of the text for programs, as JSON data; for an error its details. */
  readonly data: Readonly<Record<string, unknown>>;
}

export function done(code: keyof typeof doneAnswers, text: string, data: CommandAnswer['data'] = {}): CommandAnswer {
  return { status: 'done', code, text, data };
}

export function refused(
  code: keyof typeof refusals | AnyErrorCode,
  text: string,
  data: CommandAnswer['data'] = {},
): CommandAnswer {
  return { status: 'refused', code, text, data };
}
