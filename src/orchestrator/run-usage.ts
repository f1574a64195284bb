import type { TokenUsage } from '../agent/agent.ts';
import type { TokenPrice } from '../core/settings.ts';
import { costMicroUsd } from '../core/token-cost.ts';

/** What a run has used so far; no figure ever falls. */
export interface RunUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  readonly costMicroUsd: number;
}

export const nothingUsed: RunUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  totalTokens: 0,
  costMicroUsd: 0,
};

/**
 * What is used after a report: reports are running totals of the session, so a figure grows to what is told, and a lower
 * one changes nothing. What it cost is the agent's word, else by the prices of the workflow file.
 */
export function usageAfter(before: RunUsage, told: TokenUsage, prices: Readonly<Record<string, TokenPrice>>): RunUsage {
  const cost = told.costMicroUsd ?? costMicroUsd(told, prices, told.model ?? null) ?? 0;
  return {
    inputTokens: Math.max(before.inputTokens, told.inputTokens),
    cachedInputTokens: Math.max(before.cachedInputTokens, told.cachedInputTokens ?? 0),
    outputTokens: Math.max(before.outputTokens, told.outputTokens),
    reasoningTokens: Math.max(before.reasoningTokens, told.reasoningTokens ?? 0),
    totalTokens: Math.max(before.totalTokens, told.totalTokens),
    costMicroUsd: Math.max(before.costMicroUsd, cost),
  };
}
