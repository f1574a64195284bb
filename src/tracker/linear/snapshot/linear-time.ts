/** Linear's changes may become visible out of order, up to this much later than their times say. */
export const overlapMs = 120_000;
/** Two clocks drift apart, so an old comparison is not trusted. */
const longestTrustMs = 3_600_000;

/**
 * A lower bound for Linear's clock: it had reached `time` when Baton's monotonic clock was at `at`. Baton never compares
 * its own time of day with Linear's.
 */
export interface LinearTime {
  readonly time: number;
  readonly at: number;
}

/** Of the known time and the time from this read, returns the one that puts Linear's clock further ahead. */
export function furtherTime(known: LinearTime | null, reported: LinearTime | null): LinearTime | null {
  if (known === null || reported === null) return known ?? reported;
  const isOld = reported.at - known.at > longestTrustMs;
  return isOld || reported.time - reported.at >= known.time - known.at ? reported : known;
}

/**
 * The time from which a change may still appear that was missing in an answer: every earlier change was seen. `newest`
 * is the newest known change, `reported` the newest one in that answer, `begun` the start of the read on the monotonic
 * clock.
 */
export function settledAfter(newest: number, reported: number | null, known: LinearTime | null, begun: number): number {
  const elapsedMs = known === null ? 0 : begun - known.at;
  const byClock = known === null || elapsedMs > longestTrustMs ? null : known.time + Math.max(0, elapsedMs);
  const linearTime = Math.max(reported ?? Number.NEGATIVE_INFINITY, byClock ?? Number.NEGATIVE_INFINITY);
  return Math.min(newest, linearTime - overlapMs) + 1;
}
