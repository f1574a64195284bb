import type { RunFacts } from '../../store/tables/runs.ts';

/**
 * Later facts over earlier ones; figures that are totals never fall. A figure that is no number, or larger than can be
 * reckoned with, is as if it had not been told: the store would refuse it, and everything beside it.
 */
export function mergeFacts(earlier: RunFacts, later: RunFacts): RunFacts {
  const totals = totalsOfARun.flatMap((name) => {
    const known = [earlier[name], later[name]].filter(isFigure);
    return known.length === 0 ? [] : [[name, Math.trunc(Math.max(...known))] as const];
  });
  return { ...withoutTotals(earlier), ...withoutTotals(later), ...Object.fromEntries(totals) };
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

function withoutTotals(facts: RunFacts): RunFacts {
  const {
    inputTokens: _in,
    cachedInputTokens: _cached,
    outputTokens: _out,
    reasoningTokens: _reasoning,
    totalTokens: _total,
    costMicroUsd: _cost,
    ...others
  } = facts;
  return others;
}
