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
  setting_without_effect: { retryable: false, nextStep: 'Set `polling.mode` accordingly, or remove the key.' },
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
  projects_clash: {
    retryable: false,
    nextStep: 'Give each project what is its own, or start them one by one in turn.',
  },
  restart_needed: { retryable: false, nextStep: 'Restart Baton to work with the new value, or undo the edit.' },
  missing_tracker_kind: { retryable: false, nextStep: 'Set `tracker.kind`.' },
  unsupported_tracker_kind: { retryable: false, nextStep: 'Set `tracker.kind` to one of the kinds named above.' },
  unsupported_agent_backend: { retryable: false, nextStep: 'Set `agent.backend` to one of the backends named above.' },
  missing_agent_command: {
    retryable: false,
    nextStep: 'Give the backend its command: `agent.command` for `command`, `codex.command` for `codex`.',
  },
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
  tracker_request: { retryable: true, nextStep: 'Nothing: the next poll asks again. Check the network if it lasts.' },
  tracker_status: { retryable: true, nextStep: 'Nothing: the next poll asks again. Check the tracker if it lasts.' },
  tracker_response: {
    retryable: true,
    nextStep: 'Nothing: the next poll asks again. If it lasts, the tracker answers in a form Baton does not know.',
  },
  tracker_pagination: {
    retryable: true,
    nextStep: 'Nothing: the next poll asks again. If it lasts, the tracker loses its place between two pages.',
  },
  tracker_rate_limited: {
    retryable: true,
    nextStep: 'Nothing: Baton asks again when the tracker allows it. `baton requests` shows who spent what.',
  },
  tracker_auth: {
    retryable: false,
    nextStep: 'Check the key of the tracker and what it may see, then run `baton doctor`.',
  },
  tracker_state_unknown: { retryable: false, nextStep: 'Use one of the states named above.' },
  tracker_issue_not_found: { retryable: false, nextStep: 'Check the id; the issue may have been deleted.' },
  tracker_read_only: { retryable: false, nextStep: 'Make the change in the tracker itself.' },

  // board
  board_move_refused: { retryable: false, nextStep: 'Make one of the moves named above (docs/board.md has the map).' },
  board_issue_invalid: { retryable: false, nextStep: 'Mend each field named above.' },
  board_cycle: { retryable: false, nextStep: 'Take one of the links named above away first.' },
  board_import_invalid: { retryable: false, nextStep: 'Mend each line named above; nothing was imported.' },

  // requests to remote services
  request_failed: { retryable: true, nextStep: 'Nothing: it is asked again later. Check the network if it lasts.' },
  request_limited: {
    retryable: true,
    nextStep: 'Nothing: it is asked again when requests are allowed. `baton requests` shows who spent what.',
  },
  insecure_endpoint: {
    retryable: false,
    nextStep: 'Use an https address, or set `allow_insecure_endpoint: true` if you trust the network in between.',
  },

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
      'Nothing was removed. Read the reason above; free disk space or mend the repository, then run `baton workspace prune`.',
  },
  salvage_not_found: { retryable: false, nextStep: 'Run `baton salvage list`.' },
  restore_refused: { retryable: false, nextStep: 'Name a folder that does not exist yet with --to.' },

  // agent and run
  agent_launch_failed: { retryable: true, nextStep: 'Check the agent program with `baton doctor`.' },
  agent_exited: { retryable: true, nextStep: 'Read the end of the error output, kept with the run.' },
  agent_quota_exhausted: {
    retryable: true,
    nextStep: 'Nothing: the ticket goes on when the quota of its account is back.',
  },
  agent_auth_failed: {
    retryable: false,
    nextStep: 'Log the agent in again with the command named above, then `baton issue retry`.',
  },
  agent_context_exhausted: {
    retryable: true,
    nextStep: 'Nothing: the next attempt makes its context smaller. If it lasts, make the ticket smaller.',
  },
  run_stalemate: {
    retryable: false,
    nextStep: 'Read what the agent said last, answer it in the ticket or make that clearer, then `baton issue retry`.',
  },
  agent_turn_failed: { retryable: true, nextStep: "Read the run's events in the log." },
  agent_turn_timeout: {
    retryable: true,
    nextStep: 'Nothing if it is rare; otherwise raise the turn timeout of the backend.',
  },
  agent_survives: {
    retryable: false,
    nextStep: 'End the processes by hand (their run id is in their environment), then move the ticket.',
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
  run_cancelled: { retryable: false, nextStep: 'Nothing: the ticket was moved away, or a person asked for it.' },
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
    nextStep: 'Look at what the agent said, make the ticket clearer or end it, then `baton issue retry`.',
  },

  // questions
  question_not_found: { retryable: false, nextStep: 'See `baton ask list`.' },

  // tools
  unsupported_tool_call: { retryable: false, nextStep: 'Call one of the tools named in the answer.' },
  invalid_tool_arguments: {
    retryable: false,
    nextStep: 'Call the tool again with the arguments its schema describes.',
  },

  // store
  store_url_unsupported: {
    retryable: false,
    nextStep: 'Write `sqlite:/absolute/path/baton.db` or `postgres://user@host/database`.',
  },
  store_in_use: {
    retryable: false,
    nextStep: 'Stop that daemon, or give this one a store of its own (`--state-dir`, `store.url`).',
  },
  store_newer: { retryable: false, nextStep: 'Use the newer Baton, or restore a backup made with this one.' },
  store_corrupt: {
    retryable: false,
    nextStep: 'Keep the file as it is, and run `baton restore FILE` with the last backup (docs/store.md).',
  },
  store_foreign: { retryable: false, nextStep: 'Give Baton a file or a database of its own.' },
  store_not_writable: {
    retryable: false,
    nextStep: 'Check the path, its owner and its permissions; everything in the folder must be writable for Baton.',
  },
  store_access_denied: { retryable: false, nextStep: 'Check user, password and database in the address of the store.' },
  store_full: { retryable: true, nextStep: 'Free some space; nothing is lost, and Baton goes on by itself.' },
  store_busy: { retryable: true, nextStep: 'Nothing: it is tried again. If it lasts, look for a process that hangs.' },
  store_unavailable: { retryable: true, nextStep: 'Check that the database server runs and can be reached.' },
  store_constraint: {
    retryable: false,
    nextStep: 'Check the ids: one is there already, or one that is referred to is not.',
  },
  store_not_empty: { retryable: false, nextStep: 'Name a store that does not exist yet, or allow it to be replaced.' },
  store_backup_failed: { retryable: false, nextStep: 'Mend what the message names, then make the backup again.' },
  store_failed: { retryable: false, nextStep: 'This is a defect of Baton: report it with the log line.' },

  // command line and daemon
  command_refused: { retryable: false, nextStep: 'Read the reason; `baton status` shows what is going on.' },
  listener_failed: {
    retryable: false,
    nextStep: 'Check that this machine has the loopback address 127.0.0.1 and ports to spare.',
  },
  run_not_found: { retryable: false, nextStep: 'See `baton runs list`.' },
  init_refused: { retryable: false, nextStep: 'Choose other answers, or another file.' },
  tracker_not_board: {
    retryable: false,
    nextStep: 'Make the change in the tracker itself, or set `tracker.kind: board`.',
  },
  state_inside_workspaces: {
    retryable: false,
    nextStep: 'Choose another folder with --state-dir or `store.url`; agents can write below `workspace.root`.',
  },
  local_socket_failed: {
    retryable: false,
    nextStep: 'Check that the state folder can be written, or choose another with --state-dir.',
  },
  socket_folder_unsafe: {
    retryable: false,
    nextStep: 'Remove that folder if it is not in use, or choose a state folder with a shorter path (--state-dir).',
  },
  usage_error: { retryable: false, nextStep: 'See `baton --help`.' },
  demo_failed: { retryable: false, nextStep: 'Run `baton doctor`; the folder of the demo is kept for a look.' },
  internal_error: { retryable: false, nextStep: 'This is a defect of Baton: report it with the log line.' },
} as const satisfies Record<string, { retryable: boolean; nextStep: string }>;

export type ErrorCode = keyof typeof errorCatalogue;
