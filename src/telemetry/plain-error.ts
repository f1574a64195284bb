import { BatonError } from '../core/baton-error.ts';

/**
 * An error as fields: its code, its message, the next step, its stack where wanted, and what caused it. `plain` makes
 * the parts printable and ends the chain of causes where it runs in a circle or too deep.
 */
export function plainError(
  error: Error,
  withStack: boolean,
  plain: (part: unknown) => unknown,
): Record<string, unknown> {
  const code = 'code' in error ? error.code : undefined;
  return {
    code: plain(code ?? error.name),
    message: plain(error.message),
    ...(error instanceof BatonError ? ownFields(error, plain) : {}),
    ...(withStack ? { stack: plain(error.stack) } : {}),
    // Node's failed connections are of this kind, with an empty message of their own.
    ...(error instanceof AggregateError ? { errors: plain(error.errors) } : {}),
    ...(error.cause === undefined ? {} : { cause: plain(error.cause) }),
  };
}

function ownFields(error: BatonError, plain: (part: unknown) => unknown): Record<string, unknown> {
  return {
    next_step: plain(error.nextStep),
    retryable: error.retryable,
    ...(Object.keys(error.details).length > 0 ? { details: plain(error.details) } : {}),
  };
}
