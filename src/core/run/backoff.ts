/** Baton checks the issue again this soon after a run that ended well (seed 2, Continuation Retries). */
export const continuationDelayMs = 1_000;

/** The wait after the first failure; each further one in a row doubles it (seed 2, Backoff Formula). */
const failureBaseMs = 10_000;

/** The first wait for a quota without a known reset time, and for a login, which needs a person; and the longest wait. */
const quotaBaseMs = 60_000;
const loginBaseMs = 5 * 60_000;
const accountLongestMs = 3_600_000;

/** No service reports when a bill is paid, and until then it refuses each try. */
const billingBaseMs = 30 * 60_000;
const billingLongestMs = 4 * 3_600_000;

/** The longest known quota window is a week. Baton does not believe a later reset time. */
export const furthestResetMs = 8 * 24 * 3_600_000;

/** The longest jitter, as a part of the delay. It only ever makes the wait longer. */
const jitterPart = 0.1;

/** The longest jitter for accounts: a tenth of a window of five hours would leave paid quota unused for half an hour. */
export const accountJitterMs = 60_000;

/**
 * The wait after the `failures`-th failure in a row: `min(10,000 · 2^(failures−1), longestMs)`, and at most a tenth more
 * by `chance` (0 to 1), so that many issues that failed together do not come back together.
 */
export function failureDelayMs(failures: number, longestMs: number, chance: number): number {
  const delay = Math.min(doubled(failureBaseMs, failures - 1), longestMs);
  return Math.round(delay * (1 + jitterPart * chance));
}

/**
 * The wait for a quota: until the reported reset where that is believable, else from a minute to an hour, doubled after
 * each wait in a row. `chance` adds at most a tenth, and at most a minute.
 */
export function quotaDelayMs(waitsBefore: number, untilResetMs: number | null, chance: number): number {
  const isBelieved = untilResetMs !== null && untilResetMs > 0 && untilResetMs <= furthestResetMs;
  return jittered(isBelieved ? untilResetMs : Math.min(doubled(quotaBaseMs, waitsBefore), accountLongestMs), chance);
}

/** The wait for a login: from five minutes to an hour, growing like that for a quota. */
export function loginDelayMs(waitsBefore: number, chance: number): number {
  return jittered(Math.min(doubled(loginBaseMs, waitsBefore), accountLongestMs), chance);
}

/** The wait for a person to fix the billing: from half an hour to four, growing like that for a quota. */
export function billingDelayMs(waitsBefore: number, chance: number): number {
  return jittered(Math.min(doubled(billingBaseMs, waitsBefore), billingLongestMs), chance);
}

/** Beyond 2^30 the delay exceeds any sensible limit, and the exact range of numbers. */
function doubled(baseMs: number, times: number): number {
  return baseMs * 2 ** Math.min(Math.max(times, 0), 30);
}

function jittered(delayMs: number, chance: number): number {
  return Math.round(delayMs + Math.min(delayMs * jitterPart, accountJitterMs) * chance);
}
