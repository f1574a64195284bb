import type { RunFacts } from '../../store/tables/runs.ts';

/**
 * Later facts replace earlier ones; totals never fall. A figure that is not a number, or is too large to calculate
 * with, is ignored: the store would refuse it together with all other facts.
 */
export function mergeFacts(earlier: RunFacts, later: RunFacts): RunFacts {
  const merged: { -readonly [name in keyof RunFacts]: RunFacts[name] } = { ...earlier, ...later };
  for (const name of totalsOfARun) {
    const known = [earlier[name], later[name]].filter(isFigure);
    if (known.length > 0) merged[name] = Math.trunc(Math.max(...known));
    else delete merged[name];
  }
  return merged;
}

const totalsOfARun = [
  'inputTokens',
  'cachedInputTokens',
  'outputTokens',
  'reasoningTokens',
  'totalTokens',
  'costMicroUsd',
] as const;

function isFigure(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
