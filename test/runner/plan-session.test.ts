import { expect, it } from 'vitest';
import { planSession } from '../../src/runner/plan-session.ts';

const settings = { reducedBudgetTokens: 90_000, compact: true, freshStart: true, largerModel: 'large' };

it.each([
  [null, { threadId: 'thread', recovery: null }],
  ['reduced_budget', { threadId: null, recovery: { budgetTokens: 90_000 } }],
  ['compact', { threadId: 'thread', recovery: { compact: true } }],
  ['fresh_start', { threadId: null, recovery: null }],
  ['larger_model', { threadId: null, recovery: { model: 'large' } }],
] as const)('after the step %s a session begins as the cascade says', (step, plan) => {
  expect(planSession('thread', step, settings)).toEqual(plan);
});

it('a step whose setting went away meanwhile begins a new thread, as it is', () => {
  const gone = { ...settings, reducedBudgetTokens: null, largerModel: null };
  expect(planSession('thread', 'reduced_budget', gone)).toEqual({ threadId: null, recovery: null });
  expect(planSession('thread', 'larger_model', gone)).toEqual({ threadId: null, recovery: null });
});
