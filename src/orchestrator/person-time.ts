import type { Clock } from '../clock/clock.ts';
import type { RunningEntry } from './scheduling-state.ts';

/**
 * Counts `asking` as time in which the run waits for a person: that is his, not the agent's, and limits on how long a run
 * may take leave it out. While one of several questions is open, the run waits.
 */
export async function waitingForPerson<T>(entry: RunningEntry, clock: Clock, asking: Promise<T>): Promise<T> {
  const { personWaits: waits } = entry;
  if (waits.open === 0) waits.since = clock.monotonic();
  waits.open += 1;
  try {
    return await asking;
  } finally {
    waits.open -= 1;
    if (waits.open === 0) waits.totalMs += clock.monotonic() - waits.since;
  }
}

/** How long a run has taken until now, without the time in which it waited for a person. */
export function ownTimeMs(entry: RunningEntry, clock: Clock): number {
  const now = clock.monotonic();
  const { open, since, totalMs } = entry.personWaits;
  const waitedMs = totalMs + (open > 0 ? now - since : 0);
  return now - entry.startedAtMonotonic - waitedMs;
}
