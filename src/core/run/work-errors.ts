/** The part of the catalogue about work on an issue: where it is done, by which agent, with which tools. */
export const workErrors = {
  // process
  process_spawn_failed: {
    retryable: true,
    nextStep: 'Check that the program exists and may be executed (`baton doctor`).',
  },
  process_stdin_closed: { retryable: true, nextStep: 'Look at the last lines of its error output, kept with the run.' },

  // workspace
  workspace_equals_root: {
    retryable: false,
    nextStep: 'Give the issue an identifier that is a usable directory name.',
  },
  workspace_outside_root: {
    retryable: false,
    nextStep: 'Give the issue an identifier that is a usable directory name.',
  },
  workspace_symlink_escape: { retryable: false, nextStep: 'Remove the symbolic link below `workspace.root`.' },
  path_canonicalize_failed: {
    retryable: false,
    nextStep: 'Check that `workspace.root` can be read and that the name is not too long.',
  },
  workspace_hook_failed: { retryable: true, nextStep: 'Read the output of the hook in the log, then fix the hook.' },
  workspace_hook_timeout: { retryable: true, nextStep: 'Make the hook faster, or raise `hooks.timeout_ms`.' },
  workspace_unavailable: { retryable: true, nextStep: 'Check `workspace.root`: permissions and free space.' },
  git_failed: {
    retryable: true,
    nextStep: 'Read what git said above; `baton doctor` checks the repository and the git program.',
  },
  git_missing: { retryable: false, nextStep: 'Install git 2.36 or later, and put it on the PATH of Baton.' },
  git_timeout: {
    retryable: true,
    nextStep: 'Check the network and the disk; a large repository may need its first fetch by hand.',
  },
  repository_unavailable: {
    retryable: true,
    nextStep: 'Check `workspace.repo` and `workspace.base`, and that Baton may read the repository.',
  },
  workspace_copy_failed: { retryable: true, nextStep: 'Check the files that `workspace.copy` names.' },
  salvage_failed: {
    retryable: true,
    nextStep:
      'Nothing was removed. Read the reason in the message; free disk space or fix the repository, then run `baton workspace prune`.',
  },
  salvage_not_found: { retryable: false, nextStep: 'Run `baton salvage list`.' },
  restore_refused: { retryable: false, nextStep: 'Name a folder that does not exist yet with --to.' },

  // agent and run
  agent_launch_failed: { retryable: true, nextStep: 'Check the agent program with `baton doctor`.' },
  agent_exited: { retryable: true, nextStep: 'Read the end of the error output, kept with the run.' },
  agent_quota_exhausted: {
    retryable: true,
    nextStep: 'Nothing: the issue goes on when the quota of its account is back.',
  },
  agent_auth_failed: {
    retryable: false,
    nextStep: 'Log the agent in again with the command named above, then `baton issue retry`.',
  },
  agent_context_exhausted: {
    retryable: true,
    nextStep: 'Nothing: the next attempt makes its context smaller. If it lasts, make the issue smaller.',
  },
  run_stalemate: {
    retryable: false,
    nextStep: 'Read what the agent said last, answer it in the issue or make that clearer, then `baton issue retry`.',
  },
  agent_turn_failed: { retryable: true, nextStep: "Read the run's events in the log." },
  agent_turn_timeout: {
    retryable: true,
    nextStep: 'Nothing if it is rare; otherwise raise the turn timeout of the backend.',
  },
  agent_survives: {
    retryable: false,
    nextStep: 'End the processes by hand (their run id is in their environment), then move the issue.',
  },
  agent_thread_in_use: {
    retryable: false,
    nextStep: 'Close the conversation where it is open, then `baton issue retry`.',
  },
  agent_input_required: {
    retryable: false,
    nextStep: 'See `baton ask list`, then `baton ask answer ID …`: the agent goes on where it stopped.',
  },
  agent_protocol_error: { retryable: true, nextStep: 'Check that the agent program is the one the backend expects.' },
  run_stalled: {
    retryable: true,
    nextStep: 'Nothing if it is rare; otherwise raise the stall timeout of the backend.',
  },
  run_cancelled: { retryable: false, nextStep: 'Nothing: the issue was moved away, or a person asked for it.' },
  run_taken_over: {
    retryable: false,
    nextStep: 'Nothing: a person works on the issue by hand; `baton handback` gives it back.',
  },
  claim_lost: {
    retryable: true,
    nextStep: 'Nothing: the daemon that has the issue goes on with it; ask there, or wait until it is free.',
  },
  run_interrupted: { retryable: true, nextStep: 'Nothing: the work goes on as soon as there may be a run again.' },
  limit_reached: {
    retryable: false,
    nextStep: 'Look at what the issue has spent, then `baton issue retry` for a new allowance, or raise the limit.',
  },
  retries_exhausted: { retryable: false, nextStep: 'Mend what the last error names, then `baton issue retry`.' },
  no_progress: {
    retryable: false,
    nextStep: 'Look at what the agent said, make the issue clearer or end it, then `baton issue retry`.',
  },

  // questions
  question_not_found: { retryable: false, nextStep: 'See `baton ask list`.' },

  // tools
  unsupported_tool_call: { retryable: false, nextStep: 'Call one of the tools named in the answer.' },
  invalid_tool_arguments: {
    retryable: false,
    nextStep: 'Call the tool again with the arguments its schema describes.',
  },
} as const;
