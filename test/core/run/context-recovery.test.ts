import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ContextDeath,
  chooseRecovery,
  type RecoveryStep,
  recoverySteps,
} from '../../../src/core/run/context-recovery.ts';
import type { ContextRecoverySettings } from '../../../src/core/settings.ts';

const configured = (...steps: RecoveryStep[]): ContextRecoverySettings => ({
  reducedBudgetTokens: steps.includes('reduced_budget') ? 100_000 : null,
  compact: steps.includes('compact'),
  freshStart: steps.includes('fresh_start'),
  largerModel: steps.includes('larger_model') ? 'large' : null,
});
const all = configured(...recoverySteps);
const chosen = (death: Partial<ContextDeath>): RecoveryStep | null =>
  chooseRecovery({ kind: 'context', last: null, isLastAttempt: false, configured: all, ...death });

describe('after a run filled its context', () => {
  it.each([
    [null, 'reduced_budget'],
    ['reduced_budget', 'compact'],
    ['compact', 'fresh_start'],
    ['fresh_start', 'larger_model'],
    ['larger_model', 'larger_model'],
  ] as const)('and had tried %s, the next step is %s', (last, next) => {
    expect(chosen({ last })).toBe(next);
  });

  it.each([
    [null, 'compact'],
    ['reduced_budget', 'compact'],
    ['compact', 'fresh_start'],
    ['fresh_start', 'larger_model'],
  ] as const)('with too many tokens and had tried %s, the next step is %s', (last, next) => {
    expect(chosen({ kind: 'token', last })).toBe(next);
  });

  it('steps that are not configured are skipped', () => {
    const few = configured('reduced_budget', 'larger_model');
    expect(chosen({ configured: few })).toBe('reduced_budget');
    expect(chosen({ configured: few, last: 'reduced_budget' })).toBe('larger_model');
    expect(chosen({ configured: few, kind: 'token' })).toBe('larger_model');
  });

  it('with too many tokens and only a smaller budget configured, that is the only step', () => {
    expect(chosen({ configured: configured('reduced_budget'), kind: 'token' })).toBe('reduced_budget');
  });

  // @conforms 4.87
  it.each([null, ...recoverySteps])('the last attempt takes the last step, whatever came before (%s)', (last) => {
    expect(chosen({ last, isLastAttempt: true })).toBe('larger_model');
    expect(chosen({ last, isLastAttempt: true, configured: configured('compact') })).toBe('compact');
  });

  it('continues after a step that is no longer configured', () => {
    expect(chosen({ last: 'compact', configured: configured('reduced_budget', 'fresh_start') })).toBe('fresh_start');
  });

  it('retries as usual when nothing is configured', () => {
    for (const last of [null, ...recoverySteps])
      for (const isLastAttempt of [true, false])
        expect(chosen({ last, isLastAttempt, configured: configured() })).toBeNull();
  });

  it('several in a row only go forward, take each configured step once, and stay at the last', () => {
    fc.assert(
      fc.property(fc.subarray([...recoverySteps], { minLength: 1 }), (steps) => {
        let last: RecoveryStep | null = null;
        const taken = Array.from({ length: 6 }, () => {
          last = chosen({ last, configured: configured(...steps) });
          return last;
        });
        expect([...new Set(taken)]).toEqual(steps);
        expect(taken.slice(steps.length - 1)).toEqual(Array(7 - steps.length).fill(steps.at(-1)));
      }),
    );
  });
});
