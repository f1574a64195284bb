/** The part of the catalogue about work on an issue: workspace, agent, run, questions and tools. */
export const workErrors = {
  // process
  process_spawn_failed: {
    retryable: true,
    nextStep: 'Check that the program exists and may be executed (`baton doctor`).',
  },
  process_stdin_closed: { retryable: true, nextStep: 'Read the end of the error output: `baton runs log RUN`.' },

  isolation_hides_path: {
    retryable: false,
    nextStep: 'Add the path to `agent.isolation_read`, or to `agent.isolation_write` if the program writes there.',
  },
  isolation_failed: {
    retryable: true,
    nextStep: 'Change the setting that names the path, or see what `baton doctor` says about isolation.',
  },
  isolation_unavailable: {
    retryable: false,
    nextStep: 'Run `baton doctor` to see why, and fix it; or set `agent.isolation_required: false`.',
  },

  // workspace
  workspace_equals_root: {
    retryable: false,
    nextStep: 'Give the issue an identifier that is a usable directory name.',
  },
  workspace_outside_root: {
    retryable: false,
    nextStep: 'Give the issue an identifier that is a usable directory name.',
  },
  workspace_root_unsafe: {
    retryable: false,
    nextStep: 'Set `workspace.root` to a folder that only you can write, and whose parents only you or root can write.',
  },
  workspace_of_another_daemon: {
    retryable: false,
    nextStep:
      'Give each daemon its own `workspace.root`, or start Baton with the `--state-dir` that the workspaces belong to.',
  },
  workspace_without_branch: {
    retryable: false,
    nextStep: 'Move the workspace away, then run `baton issue retry ISSUE`. Baton then makes one with a branch.',
  },
  workspace_symlink_escape: { retryable: false, nextStep: 'Remove the symbolic link below `workspace.root`.' },
  path_canonicalize_failed: {
    retryable: false,
    nextStep: 'Check that you may read every folder of the path, and that no name in it is too long.',
  },
  workspace_hook_failed: { retryable: true, nextStep: 'Read the output of the hook in the log, then fix the hook.' },
  workspace_hook_timeout: { retryable: true, nextStep: 'Make the hook faster, or raise `hooks.timeout_ms`.' },
  workspace_unavailable: { retryable: true, nextStep: 'Check `workspace.root`: permissions and free space.' },
  git_failed: {
    retryable: true,
    nextStep: 'Read the message of git. `baton doctor` checks the repository and the git program.',
  },
  not_in_clone: {
    retryable: false,
    nextStep: 'Run the command in a clone of the repository that has the branch of the change; `git fetch` brings it.',
  },
  git_missing: { retryable: false, nextStep: 'Install git 2.38 or later, and put it on the PATH of Baton.' },
  git_timeout: {
    retryable: true,
    nextStep: 'Check the network and the disk. You may have to fetch a large repository once by hand.',
  },
  repository_unavailable: {
    retryable: true,
    nextStep: 'Check `workspace.repo` and `workspace.base`, and that Baton has permission to read the repository.',
  },
  pull_closed: {
    retryable: false,
    nextStep:
      'To continue the review, open the pull request again. For more work by an agent, move the issue back to an active state. Otherwise close the issue.',
  },
  change_ended: {
    retryable: true,
    nextStep: 'Wait: Baton reads the host again, and then finishes or holds the issue.',
  },
  change_missing: {
    retryable: true,
    nextStep: 'Check that the branch of the change and its base are in the repository: `git branch --list`.',
  },
  workspace_copy_failed: { retryable: true, nextStep: 'Check the files that `workspace.copy` names.' },
  salvage_failed: {
    retryable: true,
    nextStep:
      'Nothing was removed. Free disk space or fix the repository, as the message says, then run `baton workspace prune`.',
  },
  salvage_not_found: { retryable: false, nextStep: 'Find the saved work with `baton salvage list`.' },
  restore_refused: { retryable: false, nextStep: 'Name a folder that does not exist yet, with `--to`.' },

  // agent and run
  agent_launch_failed: { retryable: true, nextStep: 'Check the agent program with `baton doctor`.' },
  agent_exited: { retryable: true, nextStep: 'Read the end of the error output: `baton runs log RUN`.' },
  agent_quota_exhausted: {
    retryable: true,
    nextStep: 'Wait: the issue continues when its account has quota again.',
  },
  agent_auth_failed: {
    retryable: false,
    nextStep: 'Log the agent in with the command in the message, then run `baton issue retry ISSUE`.',
  },
  agent_context_exhausted: {
    retryable: true,
    nextStep: 'Wait: the next attempt uses a smaller context. If the error stays, split the issue.',
  },
  run_stalemate: {
    retryable: false,
    nextStep:
      'Read the last message of the agent, answer it with a comment on the issue or make the issue clearer, then run `baton issue retry ISSUE`.',
  },
  agent_turn_failed: { retryable: true, nextStep: 'Read the events of the run: `baton runs log RUN`.' },
  agent_turn_timeout: {
    retryable: true,
    nextStep: 'Nothing if it is rare. Otherwise raise `agent.turn_timeout_ms`.',
  },
  agent_survives: {
    retryable: false,
    nextStep: 'End the processes by hand (their environment has the run id), then run `baton issue retry ISSUE`.',
  },
  agent_thread_in_use: {
    retryable: false,
    nextStep: 'Close the conversation in the program where it is open, then run `baton issue retry ISSUE`.',
  },
  agent_input_required: {
    retryable: false,
    nextStep:
      'Find the question with `baton ask list` and answer it with `baton ask answer ID …`. The agent then continues.',
  },
  agent_protocol_error: {
    retryable: true,
    nextStep: 'Check that the agent command starts the program that the backend expects.',
  },
  run_stalled: {
    retryable: true,
    nextStep: 'Nothing if it is rare. Otherwise raise `agent.stall_timeout_ms`.',
  },
  run_deadline: {
    retryable: false,
    nextStep: 'Try the task again with a smaller text, or raise `timeout_ms` of its section.',
  },
  task_unanswered: {
    retryable: false,
    nextStep: 'Read what the agent did with `baton runs show`, then try the task again.',
  },
  run_cancelled: {
    retryable: false,
    nextStep: 'Nothing: the issue left the active states, or a person stopped the run.',
  },
  run_taken_over: {
    retryable: false,
    nextStep: 'Nothing: a person works on the issue by hand. `baton handback ISSUE` lets an agent continue.',
  },
  claim_lost: {
    retryable: true,
    nextStep:
      'Nothing: another daemon works on the issue. Send the command to that daemon, or wait until it releases the issue.',
  },
  run_interrupted: { retryable: true, nextStep: 'Wait: the work continues as soon as a run may start again.' },
  limit_reached: {
    retryable: false,
    nextStep:
      'Check what the issue has spent. Then run `baton issue retry ISSUE` for a new allowance, or raise the limit.',
  },
  retries_exhausted: {
    retryable: false,
    nextStep: 'Fix the cause of the last error, then run `baton issue retry ISSUE`.',
  },
  no_progress: {
    retryable: false,
    nextStep:
      'Read the messages of the agent. Make the issue clearer and run `baton issue retry ISSUE`, or move the issue on.',
  },
  uncommitted_work: {
    retryable: false,
    nextStep:
      'Commit the work in the workspace and run `baton issue retry ISSUE`, or retry with a note that says what to commit.',
  },
  judge_without_verdict: {
    retryable: false,
    nextStep: 'Review the change yourself, or run `baton issue retry ISSUE` to let the judge try again.',
  },
  plan_missing: {
    retryable: false,
    nextStep:
      "Read what the planner did with `baton runs log ISSUE`. Then run `baton issue retry ISSUE`, or remove the planner's label from the issue.",
  },
  plan_invalid: {
    retryable: false,
    nextStep: 'Fix the subtasks that the message names, then call create_subtasks again.',
  },
  phase_not_completed: {
    retryable: false,
    nextStep:
      'Read the messages of the agent. Make the issue clearer and run `baton issue retry ISSUE`, or move it on with `baton pipeline move ISSUE PHASE`.',
  },
  revisions_exhausted: {
    retryable: false,
    nextStep:
      'Read the artifact with `baton pipeline artifact ISSUE`. Then approve it, move the issue to another phase, or run `baton issue retry ISSUE`.',
  },
  change_not_published: {
    retryable: false,
    nextStep:
      'Remove what blocks the branch in the repository, as the message says, then run `baton issue retry ISSUE`.',
  },
  review_rounds_exhausted: {
    retryable: false,
    nextStep: 'Read the change and why it was sent back. Then send it back yourself with a note, or close it.',
  },

  // questions
  question_not_found: { retryable: false, nextStep: 'Find the question with `baton ask list`.' },

  // tools
  unsupported_tool_call: { retryable: false, nextStep: 'Call one of the tools that the answer lists.' },
  invalid_tool_arguments: {
    retryable: false,
    nextStep: 'Call the tool again with arguments that match its schema.',
  },
  setup_not_proven: {
    retryable: false,
    nextStep:
      'Read the output in `commands`. Correct or leave out each command that did not pass, then call the tool again.',
  },
} as const;
