import { type AnyErrorCode, type CodedError, type ErrorCode, errorCatalogue } from './error-catalogue.ts';

export interface BatonErrorOptions {
  /** The cause, kept for the log. */
  readonly cause?: unknown;
  /** Facts for programs: the file, the key, the value found. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Replaces the catalogue's next step where the thrower knows a better one. */
  readonly nextStep?: string;
}

/** The only error class of Baton: a stable code, a message that names the thing, and the next step. */
export class BatonError extends Error {
  override readonly name = 'BatonError';
  readonly code: AnyErrorCode;
  readonly retryable: boolean;
  readonly nextStep: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(error: ErrorCode | CodedError, message: string, options: BatonErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const { code, retryable, nextStep } = typeof error === 'string' ? { code: error, ...errorCatalogue[error] } : error;
    this.code = code;
    this.retryable = retryable;
    this.nextStep = options.nextStep ?? nextStep;
    this.details = options.details ?? {};
  }

  toJSON(): Record<string, unknown> {
    return {
      code: this.code,
      message: this.message,
      next_step: this.nextStep,
      retryable: this.retryable,
      ...(Object.keys(this.details).length > 0 ? { details: this.details } : {}),
    };
  }
}

/** Turns any thrown value into a BatonError. A value that is not one is a defect of Baton, and the message says so. */
export function toBatonError(thrown: unknown, code: ErrorCode = 'internal_error'): BatonError {
  if (thrown instanceof BatonError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new BatonError(code, message, { cause: thrown });
}
