import type { RunEnd } from '../../core/run/run.ts';

/** What the runs since the start of the daemon add up to. */
export interface RunTotals {
  runs: number;
  runMs: number;
  readonly runsByEnd: Map<RunEnd, number>;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
}

export function noTotals(): RunTotals {
  return { runs: 0, runMs: 0, runsByEnd: new Map(), inputTokens: 0, outputTokens: 0, totalTokens: 0 };
}
