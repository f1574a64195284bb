import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { ErrorCode } from '../../../src/core/error-catalogue.ts';
import {
  afterFailedRun,
  afterGoodStart,
  type Environment,
  type FailedRun,
  goodEnvironment,
} from '../../../src/core/run/environment.ts';

const longestWaitMs = 300_000;

function failed(code: ErrorCode, issueId: string, more: Partial<FailedRun> = {}): FailedRun {
  const now = more.now ?? 0;
  const error = new BatonError(code, 'no');
  return { issueId, error, turns: 0, startedAt: now - 1, hasAnswer: false, now, longestWaitMs, chance: 0, ...more };
}

/** Applies one after another; the blame of each. */
function blames(...runs: readonly FailedRun[]): readonly boolean[] {
  let environment = goodEnvironment;
  return runs.map((run) => {
    const after = afterFailedRun(environment, run);
    environment = after.environment;
    return after.isToBlame;
  });
}

const good = (environment: Environment, issueId: string, hasAnswer = false): Environment =>
  afterGoodStart(environment, { issueId, hasAnswer, now: -2 });

const failing = (environment: Environment, run: FailedRun): Environment => afterFailedRun(environment, run).environment;

describe('a run that failed', () => {
  it.each(['repository_unavailable', 'agent_launch_failed', 'git_missing', 'workspace_root_unsafe'] as const)(
    'is not to blame for %s',
    (code) => {
      expect(blames(failed(code, '1'))).toEqual([true]);
      expect(blames(failed(code, '1', { turns: 1 }))).toEqual([true]);
    },
  );

  it.each(['workspace_hook_failed', 'git_failed', 'agent_exited', 'path_canonicalize_failed'] as const)(
    'is to blame for %s until another issue meets the same',
    (code) => {
      expect(blames(failed(code, '1'), failed(code, '1'))).toEqual([false, false]);
      expect(blames(failed(code, '1'), failed(code, '2'), failed(code, '1'))).toEqual([false, true, true]);
      expect(blames(failed(code, '1', { turns: 1 }), failed(code, '2', { turns: 1 }))).toEqual([false, false]);
      const between = good(failing(goodEnvironment, failed(code, '1')), '3');
      expect(afterFailedRun(between, failed(code, '2')).isToBlame).toBe(false);
    },
  );

  it.each(['agent_turn_failed', 'agent_turn_timeout', 'run_stalemate'] as const)('is to blame for %s', (code) => {
    expect(blames(failed(code, '1'), failed(code, '2'))).toEqual([false, false]);
  });

  it('is not to blame for a model that does not answer, unless it answered before', () => {
    const error = new BatonError('agent_turn_failed', 'no', { details: { unreachable: true } });
    expect(blames(failed('agent_turn_failed', '1', { error, turns: 1 }))).toEqual([true]);
    expect(blames(failed('agent_turn_failed', '1', { error, turns: 1, hasAnswer: true }))).toEqual([false]);
  });

  it('is to blame if another issue got through since it failed the same way', () => {
    const first = failing(goodEnvironment, failed('repository_unavailable', '1'));
    const works = good(first, '2');
    expect(works.trouble).toBeNull();
    const again = afterFailedRun(works, failed('repository_unavailable', '1'));
    expect(again.isToBlame).toBe(false);
    expect(again.environment.trouble).toBeNull();
    expect(afterFailedRun(works, failed('git_missing', '1')).isToBlame).toBe(true);
    const itself = good(works, '1');
    expect(afterFailedRun(itself, failed('repository_unavailable', '1')).isToBlame).toBe(true);
  });
});

it('is to blame if another issue got through while it tried', () => {
  const works = afterGoodStart(goodEnvironment, { issueId: '2', hasAnswer: false, now: 5 });
  const run = (startedAt: number) => afterFailedRun(works, failed('git_missing', '1', { startedAt, now: 9 })).isToBlame;
  expect([run(4), run(6)]).toEqual([false, true]);
  const blamed = failing(works, failed('git_missing', '1', { startedAt: 4, now: 9 }));
  expect(afterFailedRun(blamed, failed('git_missing', '1', { startedAt: 20, now: 25 })).isToBlame).toBe(false);
});

describe('the next try', () => {
  it('comes later after each failure, up to the longest wait; failures at once are one', () => {
    let environment = goodEnvironment;
    const waits: number[] = [];
    for (let now = 0, nth = 0; nth < 8; nth += 1) {
      environment = failing(environment, failed('repository_unavailable', '1', { now }));
      const together = failing(environment, failed('repository_unavailable', '2', { now: now + 1 }));
      expect(together.trouble).toEqual(environment.trouble);
      waits.push((environment.trouble?.until ?? 0) - now);
      now = environment.trouble?.until ?? 0;
    }
    expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
  });

  it('of a model is good only once the model answers', () => {
    const error = new BatonError('agent_turn_failed', 'no', { details: { unreachable: true } });
    const trouble = failing(goodEnvironment, failed('agent_turn_failed', '1', { error, turns: 1 }));
    expect(good(trouble, '2')).toBe(trouble);
    expect(good(trouble, '2', true).trouble).toBeNull();
  });
});

it('one issue that never starts cannot keep others waiting: between two waits it causes, it is blamed', () => {
  const codes = ['repository_unavailable', 'workspace_hook_failed', 'git_missing'] as const;
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('bad', 'good'), { maxLength: 40 }),
      fc.constantFrom(...codes),
      (order, code) => {
        let environment = goodEnvironment;
        let waits = 0;
        for (const [now, issueId] of order.entries()) {
          if (issueId === 'good') environment = good(environment, 'good', true);
          else {
            const result = afterFailedRun(environment, failed(code, 'bad', { now: now * 1_000_000 }));
            if (result.isToBlame && environment.trouble === null) waits += 1;
            environment = result.environment;
          }
        }
        expect(waits).toBeLessThanOrEqual(1);
      },
    ),
  );
});
