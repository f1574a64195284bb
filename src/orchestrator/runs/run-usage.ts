import type { TokenUsage } from '../../agent/agent.ts';
import { costWith } from '../../core/account/token-cost.ts';
import type { TokenPrice } from '../../core/settings/setting.ts';

/** What a run has used so far; no figure ever falls. */
export interface RunUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  readonly costMicroUsd: number;
  /** How many billionths were rounded up in the last millionth. */
  readonly costRoundedUp: number;
}

export const nothingUsed: RunUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  totalTokens: 0,
  costMicroUsd: 0,
  costRoundedUp: 0,
};

/** A larger figure is a mistake, not a count, and must not use up the limit of a day. */
const mostOfAnything = 1e12;

/**
 * The usage after a report. Reports are running totals of the session, so a figure only grows: a lower one, or one that
 * cannot be a count, changes nothing. The cost is the agent's own figure, otherwise it follows the prices of the
 * workflow file and the known prices: new tokens cost the price of the model in the report, and earlier tokens keep theirs.
 */
export function usageAfter(
  before: RunUsage,
  report: TokenUsage,
  prices: Readonly<Record<string, TokenPrice>>,
): RunUsage {
  const counts = {
    inputTokens: Math.max(before.inputTokens, countOf(report.inputTokens)),
    cachedInputTokens: Math.max(before.cachedInputTokens, countOf(report.cachedInputTokens)),
    outputTokens: Math.max(before.outputTokens, countOf(report.outputTokens)),
    reasoningTokens: Math.max(before.reasoningTokens, countOf(report.reasoningTokens)),
    totalTokens: Math.max(before.totalTokens, countOf(report.totalTokens)),
  };
  return { ...counts, ...costAfter(before, counts, report, prices) };
}

function costAfter(
  before: RunUsage,
  counts: Omit<RunUsage, 'costMicroUsd' | 'costRoundedUp'>,
  report: TokenUsage,
  prices: Readonly<Record<string, TokenPrice>>,
): Pick<RunUsage, 'costMicroUsd' | 'costRoundedUp'> {
  const { costMicroUsd, costRoundedUp } = before;
  const reported = reportedCost(report);
  if (reported !== null)
    return reported > costMicroUsd ? { costMicroUsd: reported, costRoundedUp: 0 } : { costMicroUsd, costRoundedUp };
  const growth = {
    inputTokens: counts.inputTokens - before.inputTokens,
    cachedInputTokens: counts.cachedInputTokens - before.cachedInputTokens,
    outputTokens: counts.outputTokens - before.outputTokens,
  };
  const paid = { microUsd: costMicroUsd, roundedUp: costRoundedUp };
  const { microUsd, roundedUp } = costWith(paid, growth, prices, report.model ?? null);
  return { costMicroUsd: microUsd, costRoundedUp: roundedUp };
}

function countOf(reported: number | undefined): number {
  return reported !== undefined && Number.isSafeInteger(reported) && reported >= 0 && reported < mostOfAnything
    ? reported
    : 0;
}

/** Rounded up to the next millionth; null when the report has no cost, or an impossible one. */
function reportedCost({ costMicroUsd: reported }: TokenUsage): number | null {
  return reported !== undefined && reported >= 0 && reported < mostOfAnything ? Math.ceil(reported) : null;
}
