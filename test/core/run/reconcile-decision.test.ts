import { expect, it } from 'vitest';
import { decideAboutRun, isStalled } from '../../../src/core/run/reconcile-decision.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';

const { tracker } = settings();

it.each([
  ['terminal_state', issue({ state: 'Done' })],
  ['inactive_state', issue({ state: 'Backlog' })],
  ['not_routable', issue({ dispatchable: false })],
  ['issue_missing', null],
] as const)('a run is stopped: %s', (reason, fresh) => {
  expect(decideAboutRun(fresh, tracker)).toEqual({ action: 'stop', reason });
});

// @conforms O14
it('a run is stopped when its issue lost a required label', () => {
  const rules = { ...tracker, requiredLabels: ['baton'] };
  expect(decideAboutRun(issue({ labels: [] }), rules)).toEqual({ action: 'stop', reason: 'not_routable' });
});

it('a run goes on with the fresh record while its issue is active', () => {
  const fresh = issue({ state: 'In Progress' });
  expect(decideAboutRun(fresh, tracker)).toEqual({ action: 'keep', issue: fresh });
});

// @conforms O29
it('silence is counted from the last event, or from the start before there was one', () => {
  expect(isStalled({ startedAt: 0, lastEventAt: null }, 1_001, 1_000)).toBe(true);
  expect(isStalled({ startedAt: 0, lastEventAt: null }, 1_000, 1_000)).toBe(false);
  expect(isStalled({ startedAt: 0, lastEventAt: 900 }, 1_001, 1_000)).toBe(false);
});

// @conforms 2.12
it.each([0, -1])('a stall timeout of %d switches the check off', (timeout) => {
  expect(isStalled({ startedAt: 0, lastEventAt: null }, 10 ** 9, timeout)).toBe(false);
});
