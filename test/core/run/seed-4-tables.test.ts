import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { decideAfterExit, type RunExit, type WorkProduct } from '../../../src/core/run/exit-decision.ts';
import { settings } from '../../fake/settings.ts';

/*
 * The tables of seed 4 about the end of a run, row by row, with what Baton does. docs/conformance.md says where and why Baton
 * does something else than the row.
 */

const nothing: WorkProduct = {
  ...{ moved: false, changed: false, committed: false, hasLoose: false },
  branch: { commits: 'none' },
};
const commits: WorkProduct = { ...nothing, changed: true, committed: true, branch: { commits: 'new' } };
const limits = { maxRetries: 3, maxStaleRuns: 3 };
const ended: RunExit = {
  ...{
    identifier: 'BAT-1',
    outcome: { end: 'succeeded', turns: 1 },
    failuresBefore: 0,
    staleBefore: 0,
    noSignalsBefore: 0,
  },
  ...{ work: nothing, quotaWaitsBefore: 0, quotaReadyInMs: null, isHeldForLogin: true, environmentRetryInMs: null },
  ...{ lastRecovery: null, agent: settings({ agent: { ...limits, afterSuccess: 'review' } }).agent, now: 0, chance: 0 },
};
const failed = { end: 'failed', turns: 1, error: new BatonError('agent_exited', 'It ended.') } as const;
const stopped = {
  end: 'canceled_by_reconciliation',
  turns: 1,
  error: new BatonError('run_cancelled', 'It is done.'),
} as const;
const advance = { to: 'advance', phase: 'ready', skipped: [], warnings: [] } as const;
const judge = { hasVerdict: false, withoutVerdict: 'hold' } as const;

// @conforms 4.27, 4.28, 4.39, 4.40, 4.76
describe('Seed 4, Counter Lifecycle', () => {
  // Without review, so that a change alone ends nothing.
  const { agent } = settings({ agent: limits });
  const of = (exit: Partial<RunExit>) => decideAfterExit({ ...ended, agent, ...exit });

  it.each<[string, Partial<RunExit>, object]>([
    ['failures in a row: a failure adds one', { outcome: failed, failuresBefore: 1 }, { failures: 2 }],
    ['failures in a row: a success resets them', { work: commits, failuresBefore: 2 }, { failures: 0 }],
    [
      'failures in a row: the third is the last',
      { outcome: failed, failuresBefore: 2 },
      { action: 'hold', code: 'retries_exhausted' },
    ],
    ['stale runs in a row: a run without a change adds one', { staleBefore: 1 }, { staleRuns: 2 }],
    ['stale runs in a row: a change resets them', { work: commits, staleBefore: 2 }, { staleRuns: 0 }],
    ['stale runs in a row: the third is the last', { staleBefore: 2 }, { action: 'hold', code: 'no_progress' }],
    [
      'no signals in a row: a run without a work product adds one',
      { work: { ...nothing, changed: true }, noSignalsBefore: 1 },
      { noSignals: 2 },
    ],
    ['no signals in a row: a work product resets them', { work: commits, noSignalsBefore: 9 }, { noSignals: 0 }],
    [
      'no signals in a row: they hold nothing, and only lengthen the wait',
      { work: { ...nothing, changed: true }, noSignalsBefore: 99 },
      { action: 'retry', delayMs: 300_000 },
    ],
    [
      'the wait follows the failures in a row, not the runs in all',
      { outcome: failed, staleBefore: 2, noSignalsBefore: 20 },
      { delayMs: 10_000 },
    ],
  ])('%s', (_row, exit, expected) => {
    expect(of(exit)).toMatchObject(expected);
  });
});

describe('Seed 4, Exit Path Summary', () => {
  it.each<[string, Partial<RunExit>, object]>([
    ['issue done or cancelled', { outcome: stopped, failuresBefore: 1 }, { action: 'release' }],
    ['failed', { outcome: failed }, { action: 'retry', kind: 'failure', failures: 1, delayMs: 10_000 }],
    [
      'success, and the agent changed the status',
      { work: { ...nothing, moved: true }, failuresBefore: 2 },
      { action: 'retry', kind: 'continuation', failures: 0, staleRuns: 0 },
    ],
    [
      'success, and a completion claim that advances',
      { phase: { name: 'research', transition: advance }, failuresBefore: 2 },
      { action: 'release' },
    ],
    [
      'success of a phase agent without a claim',
      { phase: { name: 'research', transition: null }, failuresBefore: 2 },
      { action: 'retry', kind: 'continuation', failures: 0, staleRuns: 1 },
    ],
    ['success of a judge without a verdict', { judge }, { action: 'retry', staleRuns: 1 }],
    ['the same for the third time', { judge, staleBefore: 2 }, { action: 'hold', code: 'judge_without_verdict' }],
    [
      'the same, where the file says `todo`',
      { judge: { ...judge, withoutVerdict: 'todo' }, staleBefore: 2 },
      { action: 'release' },
    ],
    [
      'success of a worker whose commits become a pull request',
      { work: commits, staleBefore: 2 },
      { action: 'retry', kind: 'review', delayMs: 0, staleRuns: 0 },
    ],
    ['success of a worker without a change', {}, { action: 'retry', kind: 'continuation', staleRuns: 1 }],
    ['the same for the third time in a row', { staleBefore: 2 }, { action: 'hold', code: 'no_progress' }],
    ['success of a planner with subtasks', { plan: { made: 'all' } }, { action: 'release' }],
    [
      'success without a work product',
      { noSignalsBefore: 1 },
      { action: 'retry', kind: 'continuation', noSignals: 2, delayMs: 20_000 },
    ],
  ])('%s', (_row, exit, expected) => {
    expect(decideAfterExit({ ...ended, ...exit })).toMatchObject(expected);
  });
});
