import type { RunRecord } from '../../store/tables/runs.ts';
import { checkLimits, type LimitParts } from './check-limits.ts';
import type { Journal } from './journal.ts';
import type { RunState } from './run-state.ts';

export interface UsageRollupParts extends LimitParts {
  readonly journal: Journal;
}

/**
 * Updates the usage figures. It makes sure that the usage of runs in progress here is in the store, so that a kill
 * loses little of the bill and other daemons see it; it reads what all daemons have used today; and it checks the
 * limits, because the usage of other daemons may also end the day for our runs. The journal writes figures as they
 * come; only those that a row still lacks, because the store refused them, are noted again.
 */
export async function rollUpUsage(parts: UsageRollupParts): Promise<void> {
  const { claims, journal, spending } = parts;
  await journal.flush();
  for (const row of await spending.read()) {
    const running = claims.running.get(row.issueId);
    // A run whose end is being written has taken its notes with it.
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
