/** What one kind of act took: how many a second, and the slow end. */
export interface Measured {
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

/**
 * Runs several acts in turns, so that whatever else the machine does slows all of them alike; only then are their ratios
 * worth something. Gives one result an act.
 */
export async function measureInTurns(
  rounds: number,
  perRound: number,
  acts: readonly ((index: number) => Promise<unknown> | unknown)[],
): Promise<readonly Measured[]> {
  const times = acts.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (const [which, act] of acts.entries()) {
      for (let index = 0; index < perRound; index++) {
        const began = performance.now();
        await act(round * perRound + index);
        times[which]?.push(performance.now() - began);
      }
    }
  }
  return times.map(summary);
}

function summary(times: readonly number[]): Measured {
  const total = times.reduce((sum, time) => sum + time, 0);
  const at = (share: number): number => percentile(times, share);
  return { perSecond: (1_000 * times.length) / total, medianMs: at(0.5), p99Ms: at(0.99) };
}

/** The value below which this share of the values is. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
