/**
 * When a recurring job is due. The due times of a job are a grid that its own duration, a late start and jitter do not
 * shift. Times are of the monotonic clock but for `dueAfterRestart`, which bridges a restart.
 */

/** The longest jitter: a tenth of the interval, and no more than this. */
const jitterPart = 0.1;
const longestJitterMs = 30_000;

export interface ServedDue {
  readonly previousDue: number;
  readonly intervalMs: number;
  readonly now: number;
}

/** The next due time on the grid after `now`: all missed runs become one run. */
export function nextDue({ previousDue, intervalMs, now }: ServedDue): number {
  const missed = Math.max(0, Math.floor((now - previousDue) / intervalMs));
  const due = previousDue + (missed + 1) * intervalMs;
  // With fractions of milliseconds the division may come out a little short.
  return due > now ? due : due + intervalMs;
}

export interface StoredDue {
  /** As the previous daemon wrote it, wall time. */
  readonly nextDueAt: number;
  readonly intervalMs: number;
  /** Wall time. */
  readonly now: number;
}

/** How long to wait at a start: the rest of the previous daemon's interval. A changed clock cannot make it longer. */
export function dueAfterRestart({ nextDueAt, intervalMs, now }: StoredDue): number {
  return Math.min(Math.max(nextDueAt - now, 0), intervalMs);
}

/** How much later than it is due a remote job starts, by `chance` (0 to 1). It is added to a start, never to a due time. */
export function jitterMs(intervalMs: number, chance: number): number {
  return Math.floor(Math.min(intervalMs * jitterPart, longestJitterMs) * chance);
}

export interface ChangedInterval {
  /** Null: it has not run since the start. */
  readonly lastStartAt: number | null;
  /** When it was due with the previous interval. */
  readonly due: number;
  readonly previousIntervalMs: number;
  readonly intervalMs: number;
  readonly now: number;
}

/**
 * The due time when the interval was changed: the new interval after the last start, and no later than it was if the
 * interval became shorter. Never before `now`, which is at once; a job that has not run keeps its first due time, but
 * waits no longer than the new interval.
 */
export function rescheduled({ lastStartAt, due, previousIntervalMs, intervalMs, now }: ChangedInterval): number {
  if (intervalMs === previousIntervalMs) return due;
  if (lastStartAt === null) return Math.max(now, Math.min(due, now + intervalMs));
  const fresh = lastStartAt + intervalMs;
  return Math.max(now, intervalMs < previousIntervalMs ? Math.min(due, fresh) : fresh);
}
