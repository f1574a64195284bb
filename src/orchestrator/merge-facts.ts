import type { RunFacts } from '../store/runs.ts';

/** Later facts over earlier ones; figures that are totals never fall. */
export function mergeFacts(earlier: RunFacts, later: RunFacts): RunFacts {
  const totals = Object.fromEntries(
    totalsOfARun
      .map((name) => [name, Math.max(earlier[name] ?? 0, later[name] ?? 0)] as const)
      .filter(([name]) => earlier[name] !== undefined || later[name] !== undefined),
  );
  return { ...earlier, ...later, ...totals };
}

const totalsOfARun = [
  'inputTokens',
  'cachedInputTokens',
  'outputTokens',
  'reasoningTokens',
  'totalTokens',
  'costMicroUsd',
] as const;
