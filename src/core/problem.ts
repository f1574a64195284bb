import type { AnyErrorCode } from './error-catalogue.ts';

export interface ProblemDetails {
  /** A stable word, such as `not_set`; `allowed`, `nearest` or `variable` next to it say more. */
  readonly problem?: string;
  readonly [fact: string]: unknown;
}

/** One thing that is wrong with a workflow file: which key, what was found, what is allowed. */
export interface Problem {
  readonly code: AnyErrorCode;
  /** An error keeps the file from being used; a warning is shown and the file is used. */
  readonly severity: 'error' | 'warning';
  /** The dotted key, such as `polling.interval_ms`, or null when it is about the file as a whole. */
  readonly key: string | null;
  /** A whole sentence that names the key, what was found and what is allowed. Never holds a secret. */
  readonly message: string;
  /** The same for programs: `problem` says what is wrong where the code covers several things. Never holds a secret. */
  readonly details?: ProblemDetails;
}
