import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { ErrorCode } from '../../../src/core/error-catalogue.ts';
import { decideAfterExit, type RunExit, type WorkProduct } from '../../../src/core/run/exit-decision.ts';
import type { RunEnd, RunOutcome } from '../../../src/core/run/run.ts';
import { anyCharacter } from '../../any-character.ts';
import { settings } from '../../fake/settings.ts';
import { telling } from '../../telling.ts';

const contextRecovery = { reducedBudgetTokens: 100_000, compact: true, freshStart: true, largerModel: 'large' };
const { agent } = settings({ agent: { maxRetries: 0, contextRecovery } });
const well: RunOutcome = { end: 'succeeded', turns: 1 };
const badly = (end: Exclude<RunEnd, 'succeeded'>, code: ErrorCode, why = 'why'): RunOutcome => {
  return { end, turns: 1, error: new BatonError(code, why) };
};
const none = { branch: { commits: 'none' }, hasLoose: false } as const;
const left: WorkProduct = { moved: false, changed: true, committed: true, ...none };
const nothing: WorkProduct = { moved: false, changed: false, committed: false, ...none };
const decided = (outcome: RunOutcome, known: Partial<RunExit> = {}) =>
  decideAfterExit({
    identifier: 'BAT-1',
    outcome,
    failuresBefore: 0,
    staleBefore: 0,
    quotaWaitsBefore: 0,
    quotaReadyInMs: null,
    isHeldForLogin: true,
    environmentRetryInMs: null,
    lastRecovery: null,
    noSignalsBefore: 0,
    work: left,
    agent,
    now: 0,
    chance: 0,
    ...known,
  });
const failed = badly('failed', 'agent_exited');

describe('a successful run', () => {
  // @conforms 2.10
  it('is checked again after a second, and resets the failures', () => {
    const decision = decided(well, { failuresBefore: 2, staleBefore: 2, chance: 0.5 });
    expect(decision).toEqual({
      action: 'retry',
      kind: 'continuation',
      failures: 0,
      staleRuns: 0,
      noSignals: 0,
      delayMs: 1_000,
      recovery: null,
    });
  });

  it('without changes is counted', () => {
    expect(decided(well, { work: nothing, staleBefore: 1 })).toMatchObject({ action: 'retry', staleRuns: 2 });
  });

  it('counts as unchanged when its changes are unknown', () => {
    expect(decided(well, { work: { ...nothing, changed: null }, staleBefore: 1 })).toMatchObject({
      action: 'retry',
      staleRuns: 2,
      noSignals: 1,
    });
    expect(decided(well, { work: { ...nothing, changed: null }, staleBefore: 2 })).toMatchObject({
      action: 'hold',
      code: 'no_progress',
    });
  });

  // @conforms 4.33, 4.48
  it('without changes for the third time in a row leads to a hold with the count and the command', () => {
    expect(decided(well, { work: nothing, staleBefore: 2 })).toEqual({
      action: 'hold',
      code: 'no_progress',
      reason: telling(3, 'agent.max_stale_runs', 'baton issue retry BAT-1'),
    });
  });

  it('without changes continues forever when the check is off', () => {
    const unchecked = { ...agent, maxStaleRuns: 0 };
    const decision = decided(well, { work: nothing, staleBefore: 99, agent: unchecked });
    expect(decision).toMatchObject({ action: 'retry', staleRuns: 100 });
  });
});

describe('a run that ended well without a work product', () => {
  // @conforms 4.35, 4.36, 4.50
  it.each<[string, WorkProduct, number, number, number]>([
    ['the first in a row', nothing, 0, 1, 1_000],
    ['the second', nothing, 1, 2, 20_000],
    ['the third', nothing, 2, 3, 40_000],
    ['the tenth', nothing, 9, 10, 300_000],
    ['that only left files without a commit', { ...nothing, changed: true }, 1, 2, 20_000],
    ['that made a commit', { ...nothing, committed: true }, 9, 0, 1_000],
    ['that moved its issue', { ...nothing, moved: true }, 9, 0, 1_000],
    ['that changed files where there is no git', { ...nothing, changed: true, committed: null }, 9, 0, 1_000],
    ['whose workspace cannot be examined', { ...nothing, changed: null, committed: null }, 1, 2, 20_000],
  ])('%s is never held for it, only checked later', (_what, work, noSignalsBefore, noSignals, delayMs) => {
    const unlimited = { ...agent, maxStaleRuns: 0 };
    const decision = decided(well, { work, noSignalsBefore, agent: unlimited });
    expect(decision).toMatchObject({ action: 'retry', kind: 'continuation', noSignals, delayMs });
  });

  it('is not forgotten by a failure or an interruption', () => {
    expect(decided(failed, { noSignalsBefore: 2 })).toMatchObject({ noSignals: 2, delayMs: 10_000 });
    expect(decided(badly('interrupted', 'run_interrupted'), { noSignalsBefore: 2 })).toMatchObject({ noSignals: 2 });
  });
});

describe('a failed run', () => {
  // @conforms O20
  it('waits ten seconds after the first failure', () => {
    expect(decided(failed)).toEqual({
      action: 'retry',
      kind: 'failure',
      failures: 1,
      staleRuns: 0,
      noSignals: 0,
      delayMs: 10_000,
      recovery: null,
    });
  });

  // @conforms O19
  it('waits forty seconds after the third failure in a row', () => {
    expect(decided(failed, { failuresBefore: 2 })).toMatchObject({ failures: 3, delayMs: 40_000 });
  });

  // @conforms X1
  it.each([
    ['stalled', 'run_stalled'],
    ['timed_out', 'agent_turn_timeout'],
  ] as const)('because it %s keeps its backoff', (end, code) => {
    expect(decided(badly(end, code), { failuresBefore: 1 })).toMatchObject({ failures: 2, delayMs: 20_000 });
  });

  it('does not change the count of runs without progress', () => {
    expect(decided(failed, { work: nothing, staleBefore: 2 })).toMatchObject({ action: 'retry', staleRuns: 2 });
  });

  // @conforms 4.29
  it('leads to a hold after the third failure in a row, with the last error and the command', () => {
    const limited = { ...agent, maxRetries: 3 };
    expect(decided(failed, { failuresBefore: 1, agent: limited })).toMatchObject({ action: 'retry', failures: 2 });
    expect(
      decided(badly('failed', 'agent_exited', 'exit 1:\nno such file'), { failuresBefore: 2, agent: limited }),
    ).toEqual({
      action: 'hold',
      code: 'retries_exhausted',
      reason: telling(3, 'agent_exited', 'exit 1: no such file', 'agent.max_retries', 'baton issue retry BAT-1'),
    });
  });

  it('leads to a hold when the limit was lowered below its count', () => {
    const limited = { ...agent, maxRetries: 1 };
    expect(decided(failed, { failuresBefore: 7, agent: limited })).toMatchObject({ code: 'retries_exhausted' });
    expect(decided(failed, { agent: limited })).toMatchObject({
      code: 'retries_exhausted',
      reason: telling('agent_exited', 'agent.max_retries'),
    });
  });

  it('with pages of hostile output leads to a hold with a short reason in one line', () => {
    const hostile = `\u001b[2J${'x\n'.repeat(50_000)}`;
    const decision = decided(badly('failed', 'agent_exited', hostile), { agent: { ...agent, maxRetries: 1 } });
    if (decision.action !== 'hold') throw new Error('not held');
    expect(decision.reason.length).toBeLessThan(700);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point.
    expect(decision.reason).not.toMatch(/[\u0000-\u001f]/);
    expect(decision.reason).toMatch(/baton issue retry BAT-1$/);
  });
});

describe('a run that ended well, with `agent.after_success: review`', () => {
  const review = { ...agent, afterSuccess: 'review' as const, maxStaleRuns: 3 };
  const commits = { ...nothing, changed: true, committed: true, branch: { commits: 'new' } as const };
  const refused = { commits: 'refused', reason: 'main is\nchecked out' } as const;
  const delivered = { action: 'retry', kind: 'review', delayMs: 0, failures: 0, staleRuns: 0, noSignals: 0 };
  const next = (work: WorkProduct, known: Partial<RunExit> = {}) => decided(well, { agent: review, work, ...known });

  // @conforms 4.32, 4.47, 4.64
  it('and left new commits goes to review at once, and every count is reset', () => {
    const before = { failuresBefore: 2, staleBefore: 2, noSignalsBefore: 5 };
    expect(next(commits, before)).toMatchObject(delivered);
    expect(next({ ...commits, hasLoose: true })).toMatchObject(delivered);
    expect(next({ ...commits, moved: true })).toMatchObject(delivered);
  });

  // @conforms 4.43
  it('and moved its issue without new commits is respected', () => {
    const work = { ...nothing, moved: true, hasLoose: true };
    expect(next(work, { staleBefore: 2 })).toMatchObject({ kind: 'continuation', staleRuns: 0, delayMs: 1_000 });
    expect(next({ ...work, branch: refused })).toMatchObject({ kind: 'continuation', staleRuns: 0 });
  });

  it('whose branch was refused is held with the reason', () => {
    const reason = telling('main is checked out', 'baton issue retry BAT-1');
    expect(next({ ...nothing, branch: refused })).toEqual({ action: 'hold', code: 'change_not_published', reason });
  });

  it('and left only work that is not committed is held', () => {
    const reason = telling('agent.after_success', 'baton issue retry BAT-1');
    const work = { ...nothing, changed: true, hasLoose: true };
    expect(next(work)).toEqual({ action: 'hold', code: 'uncommitted_work', reason });
  });

  // @conforms 4.48
  it('and changed nothing is counted, waits from the first time on, and is held in the end', () => {
    expect(next(nothing)).toMatchObject({ kind: 'continuation', staleRuns: 1, noSignals: 1, delayMs: 10_000 });
    expect(next({ ...nothing, changed: null }, { staleBefore: 1 })).toMatchObject({ staleRuns: 2 });
    expect(next(nothing, { staleBefore: 2 })).toMatchObject({ action: 'hold', code: 'no_progress' });
  });

  it('and left new commits continues without review by the rule of Symphony', () => {
    expect(decided(well, { work: commits })).toMatchObject({ kind: 'continuation', delayMs: 1_000 });
  });
});

// @conforms O31
it('a run that needs a person leads to a hold and no retry', () => {
  const decision = decided(badly('failed', 'agent_input_required'));
  const reason = telling('why.', 'baton issue retry BAT-1');
  expect(decision).toEqual({ action: 'hold', code: 'agent_input_required', reason });
});

// @conforms scheduling.6
it.each(['failed', 'timed_out', 'stalled', 'canceled_by_reconciliation', 'interrupted'] as const)(
  'an agent that could not be ended holds its issue, also when its run is %s',
  (end) => {
    const decision = decided(badly(end, 'agent_survives'));
    const reason = telling('why.', 'baton issue retry BAT-1');
    expect(decision).toEqual({ action: 'hold', code: 'agent_survives', reason });
  },
);

it('a run that was stopped because its issue moved on releases the claim', () => {
  expect(decided(badly('canceled_by_reconciliation', 'run_cancelled'))).toEqual({ action: 'release' });
});

// @conforms limits.23
it('a run that Baton interrupted continues as soon as possible, and nothing is counted', () => {
  fc.assert(
    fc.property(
      fc.nat(50),
      fc.nat(50),
      fc.nat(5),
      fc.nat(5),
      (failuresBefore, staleBefore, maxRetries, maxStaleRuns) => {
        const limited = { ...agent, maxRetries, maxStaleRuns };
        const decision = decided(badly('interrupted', 'run_interrupted'), {
          failuresBefore,
          staleBefore,
          work: nothing,
          agent: limited,
        });
        expect(decision).toEqual({
          action: 'retry',
          kind: 'interrupted',
          failures: failuresBefore,
          staleRuns: staleBefore,
          noSignals: 0,
          delayMs: 0,
          recovery: null,
        });
      },
    ),
  );
});

// @conforms limits.22
it('no sequence of exits retries forever: with both limits on, every issue is held or changes something', () => {
  const exits = fc.array(fc.constantFrom('fails', 'idles', 'is interrupted'), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(
      exits,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      (row, maxRetries, maxStaleRuns) => {
        let [failuresBefore, staleBefore, counted] = [0, 0, 0];
        for (const exit of row) {
          const outcome = exit === 'fails' ? failed : exit === 'idles' ? well : badly('interrupted', 'run_interrupted');
          const limited = { ...agent, maxRetries, maxStaleRuns };
          const decision = decided(outcome, { failuresBefore, staleBefore, work: nothing, agent: limited });
          if (decision.action !== 'retry') return;
          [failuresBefore, staleBefore] = [decision.failures, decision.staleRuns];
          if (exit !== 'is interrupted') counted += 1;
          // Each of at most maxStaleRuns − 1 idle runs may have maxRetries − 1 failures before it, and so may the end.
          expect(counted).toBeLessThan(maxRetries * maxStaleRuns);
        }
      },
    ),
  );
});

describe('a run whose account has no quota', () => {
  const exhausted = (resetsAt?: number): RunOutcome => ({
    end: 'failed',
    turns: 1,
    error: new BatonError('agent_quota_exhausted', 'used up', {
      ...(resetsAt === undefined ? {} : { details: { resets_at: resetsAt } }),
    }),
  });

  it('waits until the quota is back, and nothing is counted', () => {
    const known = { failuresBefore: 2, staleBefore: 1, now: 1_000, agent: { ...agent, maxRetries: 3 } };
    expect(decided(exhausted(61_000), known)).toEqual({
      action: 'retry',
      kind: 'quota',
      failures: 2,
      staleRuns: 1,
      noSignals: 0,
      delayMs: 60_000,
      recovery: null,
    });
  });

  it.each([
    [0, 60_000],
    [1, 120_000],
    [3, 480_000],
    [30, 3_600_000],
  ])('without a time waits longer each time, after %i waits %i ms, and at most an hour', (waits, delayMs) => {
    expect(decided(exhausted(), { quotaWaitsBefore: waits })).toMatchObject({ kind: 'quota', delayMs });
  });

  it('ignores a time in the past', () => {
    expect(decided(exhausted(500), { now: 1_000 })).toMatchObject({ kind: 'quota', delayMs: 60_000 });
  });

  it.each([
    [0, 1_000],
    [300, 1_000],
    [-5, 1_000],
    [90_000, 90_000],
  ])(
    'is retried when an account is ready, in %i ms after %i ms, whatever its own account announced',
    (ready, delayMs) => {
      const known = { quotaReadyInMs: ready, quotaWaitsBefore: 7, chance: 1 };
      expect(decided(exhausted(9_000_000), known)).toMatchObject({ kind: 'quota', delayMs });
    },
  );

  it('ignores a time more than eight days ahead', () => {
    expect(decided(exhausted(9 * 24 * 3_600_000))).toMatchObject({ kind: 'quota', delayMs: 60_000 });
  });

  it('is released when its issue moved on meanwhile', () => {
    expect(decided(badly('canceled_by_reconciliation', 'agent_quota_exhausted'))).toEqual({ action: 'release' });
  });
});

describe('a run that no retry can fix', () => {
  it('waits for the account without a login when another issue is held for it, and nothing is counted', () => {
    const known = { isHeldForLogin: false, quotaReadyInMs: 300_000, failuresBefore: 2, staleBefore: 1 };
    expect(decided(badly('failed', 'agent_auth_failed'), known)).toEqual({
      action: 'retry',
      kind: 'quota',
      failures: 2,
      staleRuns: 1,
      noSignals: 0,
      delayMs: 300_000,
      recovery: null,
    });
  });

  // @conforms runs.31
  it.each(['agent_auth_failed', 'run_stalemate', 'workspace_without_branch'] as const)(
    '%s: is held at once, with the command that continues it',
    (code) => {
      for (const end of ['failed', 'timed_out', 'stalled', 'interrupted'] as const) {
        expect(decided(badly(end, code, 'Log in with: codex login'), { agent: { ...agent, maxRetries: 0 } })).toEqual({
          action: 'hold',
          code,
          reason: telling('Log in with: codex login.', 'baton issue retry BAT-1'),
        });
      }
    },
  );

  it('is released when its issue moved on meanwhile', () => {
    expect(decided(badly('canceled_by_reconciliation', 'agent_auth_failed'))).toEqual({ action: 'release' });
    expect(decided(badly('canceled_by_reconciliation', 'run_stalemate'))).toEqual({ action: 'release' });
  });

  it('is held with one short line that ends with the command, whatever the agent said last', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 2_000 }),
        fc.string({ minLength: 1 }),
        (said, identifier) => {
          const decision = decided(badly('failed', 'run_stalemate', said), { identifier });
          if (decision.action !== 'hold') throw new Error('not held');
          expect(decision.reason).toMatch(/baton issue retry \S/);
          expect(decision.reason).not.toMatch(/\n|\p{Cc}/u);
          expect(decision.reason.length).toBeLessThan(1_300);
        },
      ),
    );
  });
});

describe('a run that filled its context window', () => {
  const died = (kind?: unknown, end: 'failed' | 'interrupted' = 'failed'): RunOutcome => ({
    end,
    turns: 1,
    error: new BatonError('agent_context_exhausted', 'full', { details: { kind } }),
  });

  it('counts as a failure, and the next run does something differently', () => {
    expect(decided(died('context'), { failuresBefore: 1, staleBefore: 2 })).toEqual({
      action: 'retry',
      kind: 'failure',
      failures: 2,
      staleRuns: 2,
      noSignals: 0,
      delayMs: 20_000,
      recovery: 'reduced_budget',
    });
  });

  it.each([
    ['token', null, 'compact'],
    ['context', 'compact', 'fresh_start'],
    ['something else', 'fresh_start', 'larger_model'],
    [undefined, null, 'reduced_budget'],
  ] as const)('by %s after %s continues with %s', (kind, lastRecovery, recovery) => {
    expect(decided(died(kind), { lastRecovery })).toMatchObject({ recovery });
  });

  // @conforms 4.88
  it('takes the last step at the last attempt, and is then held', () => {
    const limited = { ...agent, maxRetries: 3 };
    expect(decided(died(), { agent: limited })).toMatchObject({ failures: 1, recovery: 'reduced_budget' });
    expect(decided(died(), { agent: limited, failuresBefore: 1, lastRecovery: 'reduced_budget' })).toMatchObject({
      failures: 2,
      recovery: 'larger_model',
    });
    expect(decided(died(), { agent: limited, failuresBefore: 2, lastRecovery: 'larger_model' })).toMatchObject({
      action: 'hold',
      code: 'retries_exhausted',
    });
  });

  it('is repeated unchanged when nothing is configured', () => {
    const nothing = { reducedBudgetTokens: null, compact: false, freshStart: false, largerModel: null };
    const plain = { ...agent, contextRecovery: nothing };
    expect(decided(died(), { agent: plain, lastRecovery: 'compact' })).toMatchObject({
      kind: 'failure',
      recovery: null,
    });
  });

  it('is forgotten after another failure and after a success', () => {
    expect(decided(failed, { lastRecovery: 'compact' })).toMatchObject({ kind: 'failure', recovery: null });
    expect(decided(well, { lastRecovery: 'compact' })).toMatchObject({ kind: 'continuation', recovery: null });
  });

  it('keeps its step when nothing is counted: the next run is what the interrupted one should have been', () => {
    const lastRecovery = 'compact';
    expect(decided(badly('interrupted', 'run_interrupted'), { lastRecovery })).toMatchObject({ recovery: 'compact' });
    expect(decided(badly('failed', 'agent_quota_exhausted'), { lastRecovery })).toMatchObject({ recovery: 'compact' });
  });
});
