import type { Usage } from '../../../client/schema/common.ts';

type Counts = 'inputTokens' | 'cachedInputTokens' | 'outputTokens' | 'reasoningTokens' | 'totalTokens' | 'costMicroUsd';

/** Tokens and cost for the API. */
export function presentUsage(usage: Readonly<Record<Counts, number>>): Usage {
  return {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    total_tokens: usage.totalTokens,
    cost_usd: usage.costMicroUsd / 1_000_000,
  };
}
