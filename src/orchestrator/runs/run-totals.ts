import type { RunEnd } from '../../core/run/run.ts';

/** Totals of the runs since the daemon started. */
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
