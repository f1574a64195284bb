import type { AnyErrorCode } from './error-catalogue.ts';

export interface ProblemDetails {
  /** A stable word, such as `not_set`; `allowed`, `nearest` or `variable` next to it say more. */
  readonly problem?: string;
  readonly [fact: string]: unknown;
}

/** One error in a workflow file: the key, the value found and the values allowed. */
export interface Problem {
  readonly code: AnyErrorCode;
  /** An error keeps the file from being used; a warning is shown and the file is used. */
  readonly severity: 'error' | 'warning';
  /** The dotted key, such as `polling.interval_ms`, or null when it is about the file as a whole. */
  readonly key: string | null;
  /** A whole sentence that names the key, the value found and the values allowed. Never contains a secret. */
  readonly message: string;
  /** The same for programs: `problem` tells apart the cases that share a code. Never contains a secret. */
  readonly details?: ProblemDetails;
}
