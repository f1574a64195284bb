import { utcDay } from '../../core/cadence/utc-day.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { UsageAmount } from '../../store/tables/usage.ts';

/** What a run used counts for the day on which it ended. */
export function usageOf(run: RunRecord, endedAt: number): UsageAmount {
  const { project, issueId, role, inputTokens, cachedInputTokens, outputTokens, reasoningTokens, totalTokens } = run;
  return {
    project,
    issueId,
    role,
    day: utcDay(endedAt),
    inputTokens,
    cachedInputTokens,
    outputTokens,
    reasoningTokens,
    totalTokens,
    costMicroUsd: run.costMicroUsd,
    runs: 1,
  };
}
