import { describe, expect, it } from 'vitest';
import { stateClass, whyNotCandidate, whyNotRoutable } from '../../../src/core/dispatch/eligibility.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { telling } from '../../telling.ts';

const { tracker } = settings();
const reasonFor = (changes: Parameters<typeof issue>[0], rules = tracker) =>
  whyNotCandidate(issue(changes), rules)?.code ?? null;

describe('an issue is a candidate', () => {
  it('with every required field, in an active state, dispatchable and not blocked', () => {
    expect(reasonFor({})).toBeNull();
    expect(reasonFor({ state: ' in progress ' })).toBeNull();
  });

  it.each(['id', 'identifier', 'title', 'state'] as const)('unless it lacks %s', (field) => {
    expect(reasonFor({ [field]: ' ' })).toBe('missing_field');
  });

  // @conforms O2
  it('unless the tracker marks it as not for dispatch', () => {
    expect(reasonFor({ dispatchable: false })).toBe('not_dispatchable');
  });

  // @conforms 1.14, 2.4
  it('unless its state is terminal, or neither active nor terminal', () => {
    expect(reasonFor({ state: 'Done' })).toBe('terminal_state');
    expect(reasonFor({ state: 'Backlog' })).toBe('inactive_state');
  });

  // @conforms O4
  it('only with every required label, in any case', () => {
    const labels = ['symphony', 'javascript'];
    const demand = (...requiredLabels: string[]) => reasonFor({ labels }, { ...tracker, requiredLabels });
    expect(demand('symph')).toBe('missing_label');
    expect(demand('symphony', 'security')).toBe('missing_label');
    expect(demand('symphony')).toBeNull();
    expect(demand('symphony', 'javascript')).toBeNull();
  });

  // @conforms C29
  it('never when a required label is blank', () => {
    expect(reasonFor({ labels: ['', 'a'] }, { ...tracker, requiredLabels: [''] })).toBe('missing_label');
  });

  // @conforms 1.15
  it('in Todo only when every blocker is terminal', () => {
    const blocker = (state: string | null) => [{ id: 'b', identifier: 'B-1', state }];
    expect(reasonFor({ blockedBy: blocker('In Progress') })).toBe('blocked');
    expect(reasonFor({ blockedBy: blocker(null) })).toBe('blocked');
    expect(reasonFor({ blockedBy: blocker('Closed') })).toBeNull();
  });

  it('in another active state whatever its blockers', () => {
    expect(reasonFor({ state: 'In Progress', blockedBy: [{ id: 'b', identifier: 'B-1', state: 'Todo' }] })).toBeNull();
  });
});

it('a run continues when its issue gets a blocker, because blockers count only at the start', () => {
  expect(whyNotRoutable(issue({ blockedBy: [{ id: 'b', identifier: 'B-1', state: 'Todo' }] }), tracker)).toBeNull();
});

it('a reason names the blockers and their states', () => {
  const blocked = issue({ blockedBy: [{ id: 'b', identifier: 'B-1', state: 'In Progress' }] });
  expect(whyNotCandidate(blocked, tracker)).toEqual({ code: 'blocked', text: telling('B-1', 'In Progress') });
});

it('a state that is both active and terminal counts as terminal', () => {
  expect(stateClass('done', { ...tracker, activeStates: ['Done'] })).toBe('terminal');
});
