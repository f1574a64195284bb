/** After a run that ended well the issue is looked at again this soon (seed 2, Continuation Retries). */
export const continuationDelayMs = 1_000;

/** The wait after the first failure; each further one in a row doubles it (seed 2, Backoff Formula). */
const failureBaseMs = 10_000;

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
