import type { LogEvent } from './log-events.ts';

/**
 * The logger as every module sees it. An entry is an event of the catalogue; variable data goes into its fields:
 * `issue_id` and `issue_identifier` always together, `run_id`, `session_id` where they apply. `warn` means that a
 * person should check, `error` that something failed to happen.
 */
export interface Logger {
  debug(event: LogEvent, fields?: LogFields): void;
  info(event: LogEvent, fields?: LogFields): void;
  warn(event: LogEvent, fields?: LogFields): void;
  error(event: LogEvent, fields?: LogFields): void;
  /** The same logger with these fields on every entry. */
  child(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;
