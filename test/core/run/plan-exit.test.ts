import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { decideAfterExit, type RunExit } from '../../../src/core/run/exit-decision.ts';
import type { RunOutcome } from '../../../src/core/run/run.ts';
import { stopOutcome } from '../../../src/core/run/stop-outcome.ts';
import { settings } from '../../fake/settings.ts';

const work = { moved: false, changed: false, committed: false, branch: { commits: 'none' }, hasLoose: false } as const;
const well: RunOutcome = { end: 'succeeded', turns: 1 };
const failed: RunOutcome = { end: 'failed', turns: 1, error: new BatonError('agent_exited', 'gone') };
const exit = (changes: Partial<RunExit>): RunExit => ({
  identifier: 'T-1',
  outcome: well,
  failuresBefore: 0,
  staleBefore: 0,
  noSignalsBefore: 0,
  work,
  quotaWaitsBefore: 0,
  quotaReadyInMs: null,
  isHeldForLogin: false,
  environmentRetryInMs: null,
  lastRecovery: null,
  agent: settings().agent,
  now: 0,
  chance: 0,
  ...changes,
});

describe('the run of a planner', () => {
  // @conforms 4.49
  it.each<[string, Partial<RunExit>, Readonly<Record<string, unknown>>]>([
    ['that made its plan is over', { plan: { made: 'all' } }, { action: 'release' }],
    ['that failed afterwards is over too', { plan: { made: 'all' }, outcome: failed }, { action: 'release' }],
    [
      'whose plan is not in the tracker yet is followed by a retry, however it ended',
      { plan: { made: 'not_yet' }, outcome: stopOutcome('inactive_state', 1) },
      { action: 'retry', staleRuns: 0 },
    ],
    ['without a plan is repeated', { plan: { made: null } }, { action: 'retry', staleRuns: 1 }],
    [
      'without a plan for the third time is held',
      { plan: { made: null }, staleBefore: 2 },
      { action: 'hold', code: 'plan_missing' },
    ],
    ['that failed without a plan is a failure', { plan: { made: null }, outcome: failed }, { kind: 'failure' }],
  ])('%s', (_, changes, decided) => {
    expect(decideAfterExit(exit(changes))).toMatchObject(decided);
  });
});

describe('the worker of an issue whose parts are over', () => {
  const review = { ...settings().agent, afterSuccess: 'review' as const };
  // @conforms 4.49
  it.each<[string, Partial<RunExit>, Readonly<Record<string, unknown>>]>([
    ['brings it to review if nothing is left to do', { agent: review }, { action: 'retry', kind: 'review' }],
    ['… also where runs do not lead to review', {}, { action: 'retry', kind: 'review' }],
    ['… and never counts as a stalemate', { staleBefore: 9 }, { action: 'retry', kind: 'review' }],
    [
      'is held with work that it did not commit',
      { agent: review, work: { ...work, changed: true, hasLoose: true } },
      { action: 'hold', code: 'uncommitted_work' },
    ],
    ['goes on after a change', { work: { ...work, changed: true } }, { action: 'retry', kind: 'continuation' }],
  ])('%s', (_, changes, decided) => {
    expect(decideAfterExit(exit({ isOfParent: true, ...changes }))).toMatchObject(decided);
  });

  it('is the only one for whom nothing is a result', () => {
    expect(decideAfterExit(exit({ staleBefore: 9 }))).toMatchObject({ action: 'hold', code: 'no_progress' });
  });
});
