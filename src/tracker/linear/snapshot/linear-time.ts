/** Linear's changes may become visible in another order than their times tell, one so much later than another. */
export const overlapMs = 120_000;
/** Two clocks do not run alike for ever. */
const longestTrustMs = 3_600_000;

/**
 * What is known of Linear's clock: it had come to `time` when our monotonic one was at `at`, and went on from there. Baton
 * never compares its own time of day with Linear's.
 */
export interface LinearTime {
  readonly time: number;
  readonly at: number;
}

/** Of what was known and what a read has told now, that by which Linear's clock is further. */
export function furtherTime(known: LinearTime | null, told: LinearTime | null): LinearTime | null {
  if (known === null || told === null) return known ?? told;
  const isOld = told.at - known.at > longestTrustMs;
  return isOld || told.time - told.at >= known.time - known.at ? told : known;
}

/**
 * From where on a change may still show up that was not there when a read was answered: every one before has been seen.
 * `newest` is the newest change that is known, `told` the newest one in that answer, `begun` when the read began, on the
 * monotonic clock.
 */
export function sureAfter(newest: number, told: number | null, known: LinearTime | null, begun: number): number {
  const elapsedMs = known === null ? 0 : begun - known.at;
  const byClock = known === null || elapsedMs > longestTrustMs ? null : known.time + Math.max(0, elapsedMs);
  const linearTime = Math.max(told ?? Number.NEGATIVE_INFINITY, byClock ?? Number.NEGATIVE_INFINITY);
  return Math.min(newest, linearTime - overlapMs) + 1;
}
