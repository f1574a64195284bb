import type { AnnouncedLimit, HttpAnswer, HttpProvider } from '../../http/http.ts';
import { errorsIn } from './call/graphql-errors.ts';

/** The buckets in Linear's headers. The last one appears only for operations with their own bucket. */
const buckets = [
  { name: 'requests', header: 'x-ratelimit-requests' },
  { name: 'complexity', header: 'x-ratelimit-complexity' },
  { name: 'endpoint requests', header: 'x-ratelimit-endpoint-requests' },
] as const;

/**
 * How Linear announces limits and refuses: `RATELIMITED` in the body of a 400 or a 200, resets in epoch milliseconds.
 */
export const linearProvider: HttpProvider = {
  name: 'linear',
  announced: (headers) => buckets.flatMap((bucket) => announcedBy(headers, bucket) ?? []),
  refusal: (answer, now) => {
    if (answer.status !== 429 && !errorsIn(answer.body).some(({ code }) => code === 'RATELIMITED')) return null;
    return { until: whenItOpens(answer, now) };
  },
};

function announcedBy(
  headers: HttpAnswer['headers'],
  { name, header }: (typeof buckets)[number],
): AnnouncedLimit | null {
  const limit = numberIn(headers, `${header}-limit`);
  const remaining = numberIn(headers, `${header}-remaining`);
  const resetAt = numberIn(headers, `${header}-reset`);
  if (limit === null || remaining === null || resetAt === null) return null;
  return { name, limit, remaining, resetAt };
}

/**
 * The latest reset of the buckets that are empty or hold less than this request costs. If there is none, the latest
 * reset of all: Linear refused, so one of them was the reason.
 */
function whenItOpens({ headers }: HttpAnswer, now: number): number | null {
  const limits = linearProvider.announced(headers, now).filter(({ resetAt }) => resetAt > now);
  const cost = numberIn(headers, 'x-complexity') ?? 1;
  const empty = limits.filter(({ name, remaining }) => remaining < (name === 'complexity' ? cost : 1));
  const resets = (empty.length > 0 ? empty : limits).map(({ resetAt }) => resetAt);
  return resets.length === 0 ? null : Math.max(...resets);
}

function numberIn(headers: HttpAnswer['headers'], name: string): number | null {
  const text = headers[name]?.trim();
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}
