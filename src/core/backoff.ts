/** After a run that ended well the issue is looked at again this soon (seed 2, Continuation Retries). */
export const continuationDelayMs = 1_000;

/** The wait after the first failure; each further one in a row doubles it (seed 2, Backoff Formula). */
const failureBaseMs = 10_000;

/** Without a time at which the quota comes back, the first wait, and the longest. */
const quotaBaseMs = 60_000;
const quotaLongestMs = 3_600_000;

/** The longest jitter, as a part of the delay. It only ever makes the wait longer. */
const jitterPart = 0.1;

/**
 * The wait after the `failures`-th failure in a row: `min(10,000 · 2^(failures−1), longestMs)`, and at most a tenth more
 * by `chance` (0 to 1), so that many issues that failed together do not come back together.
 */
export function failureDelayMs(failures: number, longestMs: number, chance: number): number {
  // Beyond 2^30 the formula is past any limit that makes sense, and past what numbers can hold exactly.
  const doublings = Math.min(Math.max(failures - 1, 0), 30);
  const delay = Math.min(failureBaseMs * 2 ** doublings, longestMs);
  return Math.round(delay * (1 + jitterPart * chance));
}

/**
 * The wait for a quota: until it comes back, where that is known, else from a minute to an hour, twice as long after each
 * wait in a row. At most a tenth more by `chance`, so that not everybody comes back at once.
 */
export function quotaDelayMs(waitsBefore: number, untilResetMs: number | null, chance: number): number {
  const guess = Math.min(quotaBaseMs * 2 ** Math.min(Math.max(waitsBefore, 0), 30), quotaLongestMs);
  const delay = untilResetMs === null || !(untilResetMs > 0) ? guess : untilResetMs;
  return Math.round(delay * (1 + jitterPart * chance));
}
