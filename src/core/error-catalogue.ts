import { workErrors } from './run/work-errors.ts';

/** `retryable`: the same call may succeed later without any change. `nextStep` is what a person does. */
export interface ErrorEntry {
  readonly retryable: boolean;
  readonly nextStep: string;
}

/**
 * Every error that Baton itself raises, by its stable code. An adapter declares its own in its folder (`adapterErrors`).
 * A code never changes its meaning. docs/errors.md lists all of them, and a test compares the two.
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
    nextStep: 'Give the key that the message names a command that starts the agent.',
  },
  missing_tracker_secret: {
    retryable: false,
    nextStep: 'Export the variable named above in the environment that starts Baton.',
  },
  invalid_tracker_config: {
    retryable: false,
    nextStep: 'Mend the `tracker` key named above, then run `baton validate`.',
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

  // A tracker refuses a move because its rules forbid it; a start move that is refused ends the run before it begins.
  board_move_refused: { retryable: false, nextStep: 'Make one of the moves named above (docs/board.md has the map).' },

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

  // notifications
  notification_failed: {
    retryable: true,
    nextStep: 'Nothing: it is tried again for a day. Look at the receiver, or at the command, if it lasts.',
  },
  notification_refused: {
    retryable: false,
    nextStep: 'Check the address and the secret of the target under `notify.targets`; it is not tried again.',
  },

  // process, workspace, agent and run, questions, tools
  ...workErrors,
  // store
  store_url_unsupported: {
    retryable: false,
    nextStep: 'Write `sqlite:/absolute/path/baton.db` or `postgres://user@host/database`.',
  },
  store_in_use: {
    retryable: false,
    nextStep: 'Stop that daemon, or give this one a store of its own (`--state-dir`, `store.url`).',
  },
  store_unreleased: {
    retryable: false,
    nextStep: 'Move the store away and start with a new one, or use the build that made it.',
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
  daemon_unreachable: {
    retryable: true,
    nextStep: 'Start it with `baton start`; `baton status` tells whether it runs.',
  },
  token_needed: {
    retryable: false,
    nextStep: 'Make one with `baton token create --scope read`, or leave server.host out.',
  },
  token_file_invalid: {
    retryable: false,
    nextStep: 'Move the file away; then make new tokens with `baton token create`.',
  },
  command_refused: { retryable: false, nextStep: 'Look at what is going on, then ask again or for something else.' },
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
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

export function isCatalogued(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}

declare const ofAdapter: unique symbol;
/** A code that an adapter declares. Only `adapterErrors` makes one, so a misspelt code does not compile. */
type AdapterErrorCode = string & { readonly [ofAdapter]: true };

export type AnyErrorCode = ErrorCode | AdapterErrorCode;

/** A code with its entry: of an adapter, or of an error that is raised again with other words. */
export interface CodedError extends ErrorEntry {
  readonly code: AnyErrorCode;
}

interface AdapterError extends CodedError {
  readonly code: AdapterErrorCode;
}

/** The errors that an adapter raises beyond those of the catalogue, by their codes. */
export type AdapterErrors = Readonly<Record<string, AdapterError>>;

export function adapterErrors<Code extends string>(
  entries: Readonly<Record<Code, ErrorEntry>>,
): Readonly<Record<Code, AdapterError>> {
  const declared = Object.entries<ErrorEntry>(entries).map(([code, entry]) => [code, { code, ...entry }]);
  // The same keys, each with its own name as the code.
  return Object.fromEntries(declared) as Readonly<Record<Code, AdapterError>>;
}
