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
  /** Of the last millionth, how many billionths were rounded up. */
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

/** What is beyond is no count but a mishap, and must not use up the limit of a day. */
const mostOfAnything = 1e12;

/**
 * What is used after a report: reports are running totals of the session, so a figure grows to what is told, and a lower
 * one changes nothing, nor does one that cannot be a count. What it cost is the agent's word, else by the prices of the
 * workflow file: what is new costs the price of the model that is told with it, and what came before keeps its own.
 */
export function usageAfter(before: RunUsage, told: TokenUsage, prices: Readonly<Record<string, TokenPrice>>): RunUsage {
  const counts = {
    inputTokens: Math.max(before.inputTokens, countOf(told.inputTokens)),
    cachedInputTokens: Math.max(before.cachedInputTokens, countOf(told.cachedInputTokens)),
    outputTokens: Math.max(before.outputTokens, countOf(told.outputTokens)),
    reasoningTokens: Math.max(before.reasoningTokens, countOf(told.reasoningTokens)),
    totalTokens: Math.max(before.totalTokens, countOf(told.totalTokens)),
  };
  return { ...counts, ...costAfter(before, counts, told, prices) };
}

function costAfter(
  before: RunUsage,
  counts: Omit<RunUsage, 'costMicroUsd' | 'costRoundedUp'>,
  told: TokenUsage,
  prices: Readonly<Record<string, TokenPrice>>,
): Pick<RunUsage, 'costMicroUsd' | 'costRoundedUp'> {
  const { costMicroUsd, costRoundedUp } = before;
  const word = costTold(told);
  if (word !== null)
    return word > costMicroUsd ? { costMicroUsd: word, costRoundedUp: 0 } : { costMicroUsd, costRoundedUp };
  const growth = {
    inputTokens: counts.inputTokens - before.inputTokens,
    cachedInputTokens: counts.cachedInputTokens - before.cachedInputTokens,
    outputTokens: counts.outputTokens - before.outputTokens,
  };
  const paid = { microUsd: costMicroUsd, roundedUp: costRoundedUp };
  const { microUsd, roundedUp } = costWith(paid, growth, prices, told.model ?? null);
  return { costMicroUsd: microUsd, costRoundedUp: roundedUp };
}

function countOf(told: number | undefined): number {
  return told !== undefined && Number.isSafeInteger(told) && told >= 0 && told < mostOfAnything ? told : 0;
}

/** Up to the next millionth; null where it is not told, or cannot be. */
function costTold({ costMicroUsd: told }: TokenUsage): number | null {
  return told !== undefined && told >= 0 && told < mostOfAnything ? Math.ceil(told) : null;
}
