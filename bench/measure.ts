/** The speed of one operation: how many per second, the median and the slow end. */
export interface Measured {
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

/**
 * Runs several operations in turns, so that other load on the machine slows all of them equally and their ratios are
 * meaningful. Returns one result per operation.
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

/** The value that this share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
