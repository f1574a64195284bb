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
] as const)('stops a run: %s', (reason, fresh) => {
  expect(decideAboutRun(fresh, tracker)).toEqual({ action: 'stop', reason });
});

// @conforms O14
it('stops a run whose issue lost a required label', () => {
  const rules = { ...tracker, requiredLabels: ['baton'] };
  expect(decideAboutRun(issue({ labels: [] }), rules)).toEqual({ action: 'stop', reason: 'not_routable' });
});

it('continues a run with the fresh record while its issue is active', () => {
  const fresh = issue({ state: 'In Progress' });
  expect(decideAboutRun(fresh, tracker)).toEqual({ action: 'keep', issue: fresh });
});

// @conforms O29
it('counts silence from the last event, or from the start before the first event', () => {
  expect(isStalled({ startedAt: 0, lastEventAt: null }, 1_001, 1_000)).toBe(true);
  expect(isStalled({ startedAt: 0, lastEventAt: null }, 1_000, 1_000)).toBe(false);
  expect(isStalled({ startedAt: 0, lastEventAt: 900 }, 1_001, 1_000)).toBe(false);
});

// @conforms 2.12
it.each([0, -1])('a stall timeout of %d switches the check off', (timeout) => {
  expect(isStalled({ startedAt: 0, lastEventAt: null }, 10 ** 9, timeout)).toBe(false);
});
