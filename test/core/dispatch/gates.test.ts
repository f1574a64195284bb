import { describe, expect, it } from 'vitest';
import { type GateFacts, type OutsideGate, openGates } from '../../../src/core/dispatch/gates.ts';
import type { Issue } from '../../../src/core/issue/issue.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { workersIn } from '../../fake/slots.ts';
import { telling } from '../../telling.ts';

const some = (changes: Partial<GateFacts> = {}): GateFacts => ({
  settings: settings(),
  taken: [],
  startMove: undefined,
  outside: {},
  ...changes,
});
const told = (each: Issue, facts: GateFacts) =>
  openGates(facts)
    .askAll(each)
    .map(({ gate, refusal, text }) => [gate, refusal?.code ?? null, text]);
const passing: OutsideGate = { refuse: () => null, passed: () => 'fine' };
const refusing: OutsideGate = { refuse: () => ({ code: 'paused', text: 'paused' }), passed: () => 'never said' };

describe('the gates', () => {
  it('each give a reason when they pass an issue', () => {
    expect(told(issue(), some())).toEqual([
      ['free_here', null, expect.any(String)],
      ['fields', null, expect.any(String)],
      ['labels', null, expect.any(String)],
      ['not_terminal', null, telling('"Todo"')],
      ['active', null, telling('"Todo"')],
      ['unblocked', null, expect.any(String)],
      ['dispatchable', null, expect.any(String)],
      ['slot', null, telling(0, 10)],
      ['slot_in_state', null, telling('"Todo"')],
    ]);
    expect(told(issue(), some()).filter(([, , text]) => text === '')).toEqual([]);
  });

  it('each give a reason when they refuse', () => {
    const refused = issue({ title: '', dispatchable: false, blockedBy: [{ id: 'b', identifier: 'B-1', state: null }] });
    const tracker = { requiredLabels: ['baton'], activeStates: ['x'], terminalStates: ['todo'] };
    const agent = { maxConcurrentAgents: 2, maxConcurrentAgentsByState: { todo: 1 } };
    const facts = some({ settings: settings({ tracker, agent }), taken: workersIn('Todo', 'x') });
    expect(told(refused, facts).slice(1)).toEqual([
      ['fields', 'missing_field', telling('title')],
      ['labels', 'missing_label', telling('"baton"')],
      ['not_terminal', 'terminal_state', telling('"Todo"')],
      ['active', 'inactive_state', telling('"Todo"')],
      ['unblocked', 'blocked', telling('B-1')],
      ['dispatchable', 'not_dispatchable', expect.any(String)],
      ['slot', 'project_full', telling(2)],
      ['slot_in_state', 'state_full', telling('"Todo"', 1)],
    ]);
  });

  it('count the slots taken by runs and by earlier starts', () => {
    const agent = { maxConcurrentAgents: 10, maxConcurrentAgentsByState: { 'in progress': 2 } };
    const facts = some({
      settings: settings({ agent }),
      taken: workersIn('In Progress'),
      startMove: { from: 'todo', to: 'In Progress' },
    });
    const gates = openGates(facts);
    const slots = (each: Issue) =>
      gates
        .askAll(each)
        .slice(-2)
        .map(({ text }) => text);
    expect(slots(issue({ id: '1' }))).toEqual([telling(1, 10), telling(1, 2, '"In Progress"')]);
    gates.letThrough(issue({ id: '1' }));
    expect(slots(issue({ id: '2' }))).toEqual([telling(2, 10), telling(2, '"In Progress"')]);
  });

  it('from outside have the place that core gives them, and do not exist when they are not passed in', () => {
    const outside = {
      slot_in_baton: passing,
      own_limits: passing,
      claim_limit: passing,
      review_limit: passing,
      headroom: passing,
      day_limit: passing,
      free_elsewhere: passing,
    };
    expect(
      openGates(some({ outside }))
        .askAll(issue())
        .map(({ gate }) => gate),
    ).toEqual([
      'free_here',
      'free_elsewhere',
      'day_limit',
      'headroom',
      'review_limit',
      'claim_limit',
      'fields',
      'labels',
      'not_terminal',
      'active',
      'unblocked',
      'dispatchable',
      'own_limits',
      'slot',
      'slot_in_state',
      'slot_in_baton',
    ]);
  });

  // @conforms tick.13
  it('report a claim first, because a claimed issue does not wait for a pause', () => {
    const claimed = { refuse: () => ({ code: 'claimed', text: 'it runs' }) as const, passed: () => '' };
    const gates = openGates(some({ outside: { not_paused: refusing, free_here: claimed } }));
    expect(gates.whyNot(issue({ state: 'Done' }))?.code).toBe('claimed');
    expect(openGates(some({ outside: { not_paused: refusing } })).whyNot(issue({ state: 'Done' }))?.code).toBe(
      'paused',
    );
  });

  it('are asked by dispatch until the first refusal', () => {
    let asked = 0;
    const counting: OutsideGate = {
      refuse: () => {
        asked += 1;
        return null;
      },
      passed: () => '',
    };
    openGates(some({ outside: { workflow: refusing, not_paused: counting } })).whyNot(issue());
    expect(asked).toBe(0);
  });
});

it('finished blockers, and blockers that do not count in a state, refuse nothing, with different texts', () => {
  const blockedBy = [{ id: 'b', identifier: 'B-1', state: 'Done' }];
  const unblocked = (each: Issue) => told(each, some()).find(([gate]) => gate === 'unblocked');
  const [none, over, elsewhere] = [{}, { blockedBy }, { blockedBy, state: 'In Progress' }].map((each) =>
    unblocked(issue(each)),
  );
  expect(elsewhere).toEqual(['unblocked', null, telling('"In Progress"')]);
  expect(over).toEqual(['unblocked', null, expect.any(String)]);
  expect(over).not.toEqual(none);
});
