/**
 * The logger as the rooms see it; `telemetry/` makes it, `cli/` hands it on. Messages are constant sentences, what
 * varies goes into the fields: `issue_id` and `issue_identifier` always together, `run_id`, `session_id` where they
 * apply. `warn` means that somebody should look, `error` that something did not happen that should have.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same logger with these fields on every line. */
  child(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;
