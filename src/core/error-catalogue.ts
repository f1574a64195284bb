/**
 * Every error that Baton itself raises, by its stable code.
 *
 * A code never changes its meaning. `retryable` tells whether the same call may succeed later without anybody doing
 * anything; `nextStep` is what a person does. docs/errors.md lists the same codes, and a test compares the two.
 */
export const errorCatalogue = {
  // workflow file
  missing_workflow_file: {
    retryable: false,
    nextStep: 'Check the path, or write a WORKFLOW.md there (docs/configuration.md shows a small one).',
  },
  workflow_too_large: {
    retryable: false,
    nextStep: 'Shorten the file; instructions that long belong into the repository, where the agent can read them.',
  },
  workflow_parse_error: { retryable: false, nextStep: 'Mend the YAML between the two `---` lines.' },
  workflow_front_matter_not_a_map: {
    retryable: false,
    nextStep: 'Write the front matter as `key: value` lines, or remove the two `---` lines.',
  },
  invalid_workflow_config: { retryable: false, nextStep: 'Mend each key named above, then run `baton validate`.' },
  unsupported_setting: {
    retryable: false,
    nextStep: 'Remove the setting; this version of Baton does not have the feature behind it.',
  },
  unknown_setting: { retryable: false, nextStep: 'Mend the spelling, or remove the key.' },
  literal_secret: {
    retryable: false,
    nextStep:
      'Put the secret into an environment variable and write `$NAME`; then change the secret, as it was in a file.',
  },
  doubtful_reference: {
    retryable: false,
    nextStep: 'Write `$NAME` alone and export the variable in the environment that starts Baton.',
  },
  missing_tracker_kind: { retryable: false, nextStep: 'Set `tracker.kind`.' },
  unsupported_tracker_kind: { retryable: false, nextStep: 'Set `tracker.kind` to one of the kinds named above.' },
  unsupported_agent_backend: { retryable: false, nextStep: 'Set `agent.backend` to one of the backends named above.' },
  missing_tracker_secret: {
    retryable: false,
    nextStep: 'Export the variable named above in the environment that starts Baton.',
  },
  invalid_tracker_config: {
    retryable: false,
    nextStep: 'Mend the `tracker` key named above, then run `baton validate`.',
  },
  missing_linear_api_token: {
    retryable: false,
    nextStep: 'Export LINEAR_API_KEY, or name another variable in `tracker.provider.api_key`.',
  },
  missing_linear_project_slug: {
    retryable: false,
    nextStep: "Set `tracker.provider.project_slug` to the project's slug (the end of its address).",
  },
  invalid_linear_assignee: {
    retryable: false,
    nextStep: 'Set `tracker.provider.assignee` to a user id, an e-mail or `me`.',
  },
  template_parse_error: { retryable: false, nextStep: 'Mend the Liquid in the body of the workflow file.' },
  template_render_error: {
    retryable: false,
    nextStep: 'Use only `issue`, `attempt` and `retry_kind`, and filters that Liquid has.',
  },

  // tracker
  tracker_request: { retryable: true, nextStep: 'Nothing: the next tick asks again. Check the network if it lasts.' },
  tracker_status: { retryable: true, nextStep: 'Nothing: the next tick asks again. Check the tracker if it lasts.' },
  tracker_response: {
    retryable: true,
    nextStep: 'Nothing: the next tick asks again. If it lasts, the tracker answers in a form Baton does not know.',
  },
  tracker_state_unknown: { retryable: false, nextStep: 'Use one of the states named above.' },
  tracker_issue_not_found: { retryable: false, nextStep: 'Check the id; the issue may have been deleted.' },
  tracker_read_only: { retryable: false, nextStep: 'Make the change in the tracker itself.' },

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
  workspace_hook_failed: { retryable: true, nextStep: 'Read the output of the hook in the log, then mend the hook.' },
  workspace_hook_timeout: { retryable: true, nextStep: 'Make the hook faster, or raise `hooks.timeout_ms`.' },
  workspace_unavailable: { retryable: true, nextStep: 'Check `workspace.root`: permissions and free space.' },

  // agent and run
  agent_launch_failed: { retryable: true, nextStep: 'Check the agent program with `baton doctor`.' },
  agent_exited: { retryable: true, nextStep: 'Read the end of the error output, kept with the run.' },
  agent_turn_failed: { retryable: true, nextStep: "Read the run's events in the log." },
  agent_turn_timeout: {
    retryable: true,
    nextStep: 'Nothing if it is rare; otherwise raise the turn timeout of the backend.',
  },
  agent_survives: {
    retryable: false,
    nextStep: 'End the processes by hand (their run id is in their environment), then move the ticket.',
  },
  agent_input_required: { retryable: false, nextStep: 'Answer in the ticket, then move it back to an active state.' },
  agent_protocol_error: { retryable: true, nextStep: 'Check that the agent program is the one the backend expects.' },
  run_stalled: {
    retryable: true,
    nextStep: 'Nothing if it is rare; otherwise raise the stall timeout of the backend.',
  },
  run_cancelled: { retryable: false, nextStep: 'Nothing: the ticket was moved away, or Baton was asked to stop.' },

  // tools
  unsupported_tool_call: { retryable: false, nextStep: 'Call one of the tools named in the answer.' },
  invalid_tool_arguments: {
    retryable: false,
    nextStep: 'Call the tool again with the arguments its schema describes.',
  },

  // command line and daemon
  usage_error: { retryable: false, nextStep: 'See `baton --help`.' },
  demo_failed: { retryable: false, nextStep: 'Run `baton doctor`; the folder of the demo is kept for a look.' },
  internal_error: { retryable: false, nextStep: 'This is a defect of Baton: report it with the log line.' },
} as const satisfies Record<string, { retryable: boolean; nextStep: string }>;

export type ErrorCode = keyof typeof errorCatalogue;
