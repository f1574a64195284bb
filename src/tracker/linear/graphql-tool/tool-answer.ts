import { BatonError, toBatonError } from '../../../core/baton-error.ts';
import type { ToolAnswer } from '../../../core/tool-set.ts';
import { failedWithHttp, noResponse } from './fixed-texts.ts';

/** The message where nothing more specific is known; the reason is a separate field. */
export const notCarriedOut = 'Baton could not complete the Linear GraphQL request.';

/** An answer of `linear_graphql`: always readable JSON, always complete. */
export function answered(success: boolean, body: unknown): ToolAnswer {
  return { success, output: JSON.stringify(body, null, 2) };
}

export function failed(message: string, more: Readonly<Record<string, unknown>> = {}): ToolAnswer {
  return answered(false, { error: { message, ...more } });
}

/** `body` is Linear's answer, where it helps: for instance, which field does not exist. */
export function failedWithStatus(status: number, body?: unknown): ToolAnswer {
  const said = body === undefined ? {} : { body };
  return failed(failedWithHttp(status), { status, ...said });
}

/** Too many requests, by the limit of Linear or of Baton: nothing was done, and the answer says when to try again. */
export function failedByLimit(message: string, until: unknown, now: number): ToolAnswer {
  const isKnown = typeof until === 'number' && Number.isFinite(until);
  return failed(message, {
    code: 'tracker_rate_limited',
    retry_at: isKnown ? new Date(until).toISOString() : null,
    retry_after_ms: isKnown ? Math.max(0, until - now) : null,
    next_step: 'Nothing was changed. Continue with other work and call again after that time.',
  });
}

export function failedBy(thrown: unknown, now: number): ToolAnswer {
  if (!(thrown instanceof BatonError)) return failed(notCarriedOut, reasonOf(thrown));
  const { code, details, message } = thrown;
  if (code === 'tracker_rate_limited') return failedByLimit(message, details.until, now);
  if (code === 'tracker_request') return failed(noResponse, reasonOf(thrown));
  if (typeof details.status === 'number' && details.status !== 200) return failedWithStatus(details.status);
  return failed(notCarriedOut, reasonOf(thrown));
}

function reasonOf(thrown: unknown): { readonly reason: string } {
  return { reason: toBatonError(thrown).message };
}
