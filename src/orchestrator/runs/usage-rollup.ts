import type { RunRecord } from '../../store/tables/runs.ts';
import { checkLimits, type LimitParts } from './check-limits.ts';
import type { Journal } from './journal.ts';
import type { RunState } from './run-state.ts';

export interface UsageRollupParts extends LimitParts {
  readonly journal: Journal;
}

/**
 * Brings together what is being spent: what the runs in progress here have used is in the store, so that a kill loses
 * little of the bill and other daemons see it; what all daemons have used today is read; and the limits are checked with
 * it, for what the others use may end the day of our runs too. The journal writes figures as they come; only what a row
 * still lacks, because the store would not take it then, is noted again.
 */
export async function rollUpUsage(parts: UsageRollupParts): Promise<void> {
  const { claims, journal, spending } = parts;
  await journal.flush();
  for (const row of await spending.read()) {
    const running = claims.running.get(row.issueId);
    // One whose end is being written takes its notes with it.
    if (running?.runId !== row.runId || running.settlingSince !== null) continue;
    if (isBehind(row, running)) journal.note(row.runId, running.usage);
  }
  for (const running of [...claims.running.values()]) checkLimits(parts, running);
}

function isBehind(row: RunRecord, { usage }: RunState): boolean {
  return (
    row.inputTokens < usage.inputTokens ||
    row.outputTokens < usage.outputTokens ||
    row.totalTokens < usage.totalTokens ||
    row.costMicroUsd < usage.costMicroUsd
  );
}
