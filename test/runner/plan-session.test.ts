import { expect, it } from 'vitest';
import { planSession } from '../../src/runner/plan-session.ts';

const settings = { reducedBudgetTokens: 90_000, compact: true, freshStart: true, largerModel: 'large' };

// @conforms 4.83, 4.84, 4.85, 4.86
it.each([
  [null, { threadId: 'thread', recovery: null }],
  ['reduced_budget', { threadId: null, recovery: { budgetTokens: 90_000 } }],
  ['compact', { threadId: 'thread', recovery: { compact: true } }],
  ['fresh_start', { threadId: null, recovery: null }],
  ['larger_model', { threadId: null, recovery: { model: 'large' } }],
] as const)('after the step %s a session starts as the cascade says', (step, plan) => {
  expect(planSession('thread', step, settings, 'failure')).toEqual(plan);
});

it('a step whose setting was removed meanwhile starts a plain new thread', () => {
  const gone = { ...settings, reducedBudgetTokens: null, largerModel: null };
  expect(planSession('thread', 'reduced_budget', gone, 'failure')).toEqual({ threadId: null, recovery: null });
  expect(planSession('thread', 'larger_model', gone, 'failure')).toEqual({ threadId: null, recovery: null });
});

it.each([
  ['compact', null],
  ['reduced_budget', { budgetTokens: settings.reducedBudgetTokens }],
  ['fresh_start', null],
  ['larger_model', { model: settings.largerModel }],
] as const)('an interrupted run of the step %s continues in its own thread', (step, recovery) => {
  for (const kind of ['interrupted', 'quota', 'answered', 'handed_back'] as const)
    expect(planSession('thread', step, settings, kind)).toEqual({ threadId: 'thread', recovery });
});
