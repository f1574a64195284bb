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
    nextStep: 'Check the path, or run `baton init` there to write a WORKFLOW.md.',
  },
  workflow_too_large: {
    retryable: false,
    nextStep: 'Shorten the file. Move long instructions into the repository, where the agent can read them.',
  },
  secret_file_unreadable: {
    retryable: false,
    nextStep: 'Correct the path in the variable that ends in `_FILE`, or let the user of the daemon read that file.',
  },
  workflow_parse_error: { retryable: false, nextStep: 'Fix the YAML between the two `---` lines.' },
  workflow_front_matter_not_a_map: {
    retryable: false,
    nextStep: 'Write the front matter as `key: value` lines, or remove the two `---` lines.',
  },
  invalid_workflow_config: {
    retryable: false,
    nextStep: 'Fix each key that the message names, then run `baton validate`.',
  },
  unsupported_setting: {
    retryable: false,
    nextStep: 'Remove the setting: this version of Baton does not support it.',
  },
  setting_without_effect: {
    retryable: false,
    nextStep: 'Set `polling.mode` to the mode that uses the key, or remove the key.',
  },
  unknown_setting: { retryable: false, nextStep: 'Fix the spelling, or remove the key.' },
  literal_secret: {
    retryable: false,
    nextStep:
      'Put the secret into an environment variable and write `$NAME` in the file. Then replace the secret: it was readable in a file.',
  },
  doubtful_reference: {
    retryable: false,
    nextStep: 'Write only `$NAME` as the value, and export the variable in the environment that starts Baton.',
  },
  projects_clash: {
    retryable: false,
    nextStep:
      'Give each project its own value for the setting that the message names, or run the projects one at a time.',
  },
  restart_needed: { retryable: false, nextStep: 'Restart Baton to use the new value, or undo the edit.' },
  missing_tracker_kind: { retryable: false, nextStep: 'Set `tracker.kind`.' },
  unsupported_tracker_kind: {
    retryable: false,
    nextStep: 'Set `tracker.kind` to one of the kinds that the message lists.',
  },
  unsupported_agent_backend: {
    retryable: false,
    nextStep: 'Set `agent.backend` to one of the backends that the message lists.',
  },
  missing_agent_command: {
    retryable: false,
    nextStep: 'Set the key that the message names to the command that starts the agent.',
  },
  missing_tracker_secret: {
    retryable: false,
    nextStep: 'Export the variable that the message names in the environment that starts Baton.',
  },
  invalid_tracker_config: {
    retryable: false,
    nextStep: 'Fix the `tracker` key that the message names, then run `baton validate`.',
  },
  template_parse_error: { retryable: false, nextStep: 'Fix the Liquid template in the body of the workflow file.' },
  template_render_error: {
    retryable: false,
    nextStep: 'Use only the variables `issue`, `attempt` and `retry_kind`, and the standard filters of Liquid.',
  },

  // tracker
  tracker_request: {
    retryable: true,
    nextStep: 'Wait: the next poll tries again. If the error stays, check the network.',
  },
  tracker_status: {
    retryable: true,
    nextStep: 'Wait: the next poll tries again. If the error stays, check the tracker.',
  },
  tracker_response: {
    retryable: true,
    nextStep:
      'Wait: the next poll tries again. If the error stays, use a newer Baton: this version cannot read the answers of the tracker.',
  },
  tracker_pagination: {
    retryable: true,
    nextStep:
      'Wait: the next poll tries again. If the error stays, report it to the tracker: the pages of its issue list contradict each other.',
  },
  tracker_rate_limited: {
    retryable: true,
    nextStep: 'Wait: Baton tries again when the tracker allows it. `baton requests` shows what used the requests.',
  },
  tracker_auth: {
    retryable: false,
    nextStep: 'Check the API key of the tracker and its permissions, then run `baton doctor`.',
  },
  tracker_state_unknown: { retryable: false, nextStep: 'Use one of the states that the message lists.' },
  tracker_label_unknown: { retryable: false, nextStep: 'Create the label in the tracker, or use another one.' },
  tracker_issue_not_found: { retryable: false, nextStep: 'Check the id; the issue may have been deleted.' },
  tracker_read_only: { retryable: false, nextStep: 'Make the change in the tracker itself.' },

  // A tracker refuses a move because its rules forbid it; a start move that is refused ends the run before it begins.
  board_move_refused: {
    retryable: false,
    nextStep: 'Make one of the moves that the message lists (docs/board.md shows all moves).',
  },

  // requests to remote services
  request_failed: {
    retryable: true,
    nextStep: 'Wait: Baton tries again later. If the error stays, check the network.',
  },
  request_limited: {
    retryable: true,
    nextStep: 'Wait: Baton tries again when the service allows requests. `baton requests` shows what used them.',
  },
  insecure_store: {
    retryable: false,
    nextStep: 'Add `?sslmode=verify-full` to the address of the database, if its server has TLS.',
  },
  insecure_endpoint: {
    retryable: false,
    nextStep: 'Use an https address, or set `allow_insecure_endpoint: true` if you trust the network in between.',
  },

  // notifications
  notification_failed: {
    retryable: true,
    nextStep: 'Wait: Baton tries again for a day. If the error stays, check the receiver or the command of the target.',
  },
  notification_refused: {
    retryable: false,
    nextStep:
      'Check the address and the secret of the target under `notify.targets`. Baton does not send this message again.',
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
    nextStep: 'Move the store away and start with a new one, or use the build of Baton that made it.',
  },
  store_newer: { retryable: false, nextStep: 'Use the newer Baton, or restore a backup made with this one.' },
  store_corrupt: {
    retryable: false,
    nextStep: 'Do not change the file. Restore the last backup with `baton restore FILE` (docs/store.md).',
  },
  store_foreign: { retryable: false, nextStep: 'Give Baton a file or a database of its own.' },
  store_not_writable: {
    retryable: false,
    nextStep: 'Check the owner and the permissions of the path: Baton must be able to write everything in the folder.',
  },
  store_access_denied: {
    retryable: false,
    nextStep: 'Check the user, the password and the database name in the address of the store.',
  },
  store_full: { retryable: true, nextStep: 'Free some disk space. Nothing is lost, and Baton continues by itself.' },
  store_busy: {
    retryable: true,
    nextStep: 'Wait: Baton tries again. If the error stays, find the process that keeps the store locked.',
  },
  store_unavailable: {
    retryable: true,
    nextStep: 'Check that the database server runs and that this machine can reach it.',
  },
  store_constraint: {
    retryable: false,
    nextStep:
      'Check the ids in the message: an id that must be new exists already, or an id that is needed does not exist.',
  },
  store_not_empty: {
    retryable: false,
    nextStep: 'Name a store that does not exist yet, or allow Baton to replace this one.',
  },
  store_backup_failed: { retryable: false, nextStep: 'Fix the problem in the message, then make the backup again.' },
  store_failed: { retryable: false, nextStep: 'This is a defect of Baton. Please report it with the log line.' },

  // command line and daemon
  daemon_unreachable: {
    retryable: true,
    nextStep: 'Start the daemon with `baton start`; `baton status` shows whether it runs.',
  },
  token_needed: {
    retryable: false,
    nextStep: 'Create a token with `baton token create --scope read`, or remove `server.host` from the workflow file.',
  },
  token_file_invalid: {
    retryable: false,
    nextStep: 'Move the file away, then create new tokens with `baton token create`.',
  },
  command_refused: {
    retryable: false,
    nextStep: 'See the current state with `baton status`, then repeat the command or give another one.',
  },
  listener_failed: {
    retryable: false,
    nextStep: 'Check that `server.host` is an address of this machine and that you may listen on the port.',
  },
  port_in_use: {
    retryable: false,
    nextStep: 'Choose another port with `--port` or `server.port`, or name none: Baton then takes a free one.',
  },
  artifact_not_found: { retryable: false, nextStep: 'See what the issue has with `baton pipeline artifact ISSUE`.' },
  task_not_found: {
    retryable: false,
    nextStep: 'Find the task with `baton intake list`, `baton scan list`, `baton setup list` or `baton learn list`.',
  },
  learning_not_found: { retryable: false, nextStep: 'Find the learning with `baton learnings list --all`.' },
  prompt_not_found: { retryable: false, nextStep: 'See which prompts have runs with `baton prompts list`.' },
  pull_not_found: { retryable: false, nextStep: 'Find the pull request with `baton pr list --all`.' },
  run_not_found: { retryable: false, nextStep: 'Find the run with `baton runs list`.' },
  init_refused: { retryable: false, nextStep: 'Give other answers or options, or write to another file.' },
  tracker_not_board: {
    retryable: false,
    nextStep: 'Make the change in the tracker itself, or set `tracker.kind: board`.',
  },
  state_inside_workspaces: {
    retryable: false,
    nextStep:
      'Choose another folder with `--state-dir` or `store.url`: agents can write to everything below `workspace.root`.',
  },
  local_socket_failed: {
    retryable: false,
    nextStep: 'Make the state folder writable, or choose another one with `--state-dir`.',
  },
  socket_folder_unsafe: {
    retryable: false,
    nextStep: 'Remove that folder if no daemon uses it, or choose a state folder with a shorter path (`--state-dir`).',
  },
  usage_error: { retryable: false, nextStep: 'See `baton --help`.' },
  demo_failed: {
    retryable: false,
    nextStep: 'Run `baton doctor`. The folder of the demo stays, so that you can examine it.',
  },
  internal_error: { retryable: false, nextStep: 'This is a defect of Baton. Please report it with the log line.' },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

export function isCatalogued(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code);
}

declare const ofAdapter: unique symbol;
/** A code that an adapter declares. Only `adapterErrors` makes one, so a misspelt code does not compile. */
type AdapterErrorCode = string & { readonly [ofAdapter]: true };

export type AnyErrorCode = ErrorCode | AdapterErrorCode;

/** A code with its entry: of an adapter, or of an error that is raised again with another message. */
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
