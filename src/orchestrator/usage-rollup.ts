import type { RunRecord } from '../store/runs.ts';
import { checkLimits } from './check-limits.ts';
import type { OrchestratorContext } from './context.ts';
import type { RunningEntry } from './scheduling-state.ts';
import { readToday } from './today.ts';

/**
 * Brings together what is being spent: what the runs in flight here have used is in the store, so that a kill loses
 * little of the bill and other daemons see it; what all daemons have used today is read; and the limits are looked at
 * with it, for what the others use may end the day of our runs too. The journal writes figures as they come; only what
 * a row lacks all the same, because the store would not take it then, is noted again.
 */
export async function rollUpUsage(context: OrchestratorContext): Promise<void> {
  const { state, journal } = context;
  await journal.flush();
  const unfinished = await readToday(context);
  for (const row of unfinished) {
    const entry = state.running.get(row.issueId);
    // One whose end is being written takes its notes with it.
    if (entry?.runId !== row.runId || entry.settlingSince !== null) continue;
    if (isBehind(row, entry)) journal.note(row.runId, entry.usage);
  }
  for (const entry of [...state.running.values()]) checkLimits(context, entry);
}

function isBehind(row: RunRecord, { usage }: RunningEntry): boolean {
  return (
    row.inputTokens < usage.inputTokens ||
    row.outputTokens < usage.outputTokens ||
    row.totalTokens < usage.totalTokens ||
    row.costMicroUsd < usage.costMicroUsd
  );
}
