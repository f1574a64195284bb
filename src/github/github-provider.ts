import * as z from 'zod';
import { parseJson } from '../core/text/parse-json.ts';
import type { AnnouncedLimit, HttpAnswer, HttpProvider } from '../http/http.ts';

/** How long GitHub asks to wait after a secondary limit that names no time. */
const secondaryWaitMs = 60_000;

/**
 * How GitHub announces limits and refuses. The primary limit: 403, 429, or `RATE_LIMITED` in the body of a 200, with
 * nothing remaining until a reset in epoch seconds. The secondary limit: 403 or 429 with a `Retry-After`, or with words.
 */
export const githubProvider: HttpProvider = {
  name: 'github',
  announced: (headers) => announcedIn(headers) ?? [],
  refusal: (answer, now) => {
    const { status, headers } = answer;
    const isPrimary = headers['x-ratelimit-remaining'] === '0';
    const reset = announcedIn(headers)?.[0]?.resetAt ?? null;
    if (status === 200) return isLimitedGraphql(answer.body) ? { until: isPrimary ? reset : null } : null;
    if (status !== 403 && status !== 429) return null;
    // The limiter reads `Retry-After` itself.
    if (headers['retry-after'] !== undefined) return { until: null };
    if (isPrimary) return { until: reset };
    if (status === 403 && !/secondary rate limit|abuse detection/i.test(answer.body)) return null;
    return { until: now + secondaryWaitMs };
  },
};

function announcedIn(headers: HttpAnswer['headers']): readonly AnnouncedLimit[] | null {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    wholeNumber(headers[`x-ratelimit-${name}`]),
  );
  if (limit == null || remaining == null || reset == null) return null;
  return [{ name: headers['x-ratelimit-resource'] ?? 'core', limit, remaining, resetAt: reset * 1_000 }];
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

const limitedErrors = z.object({ errors: z.array(z.object({ type: z.literal('RATE_LIMITED') })).min(1) });

function isLimitedGraphql(body: string): boolean {
  // Most answers are long and fine.
  if (!body.includes('RATE_LIMITED')) return false;
  try {
    return limitedErrors.safeParse(parseJson(body)).success;
  } catch {
    return false;
  }
}
