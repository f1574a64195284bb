import { describe, expect, it } from 'vitest';
import { type GateFacts, type OutsideGate, openGates } from '../../src/core/gates.ts';
import type { Issue } from '../../src/core/issue.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';

const some = (changes: Partial<GateFacts> = {}): GateFacts => ({
  settings: settings(),
  runningStates: [],
  startMove: undefined,
  outside: {},
  ...changes,
});
const told = (each: Issue, facts: GateFacts) =>
  openGates(facts)
    .askAll(each)
    .map(({ gate, refusal, text }) => `${gate} ${refusal === null ? 'ok' : 'no'}: ${text}`);
const passing: OutsideGate = { refuse: () => null, passed: () => 'fine' };
const refusing: OutsideGate = { refuse: () => ({ code: 'paused', text: 'paused' }), passed: () => 'never said' };

describe('the gates', () => {
  it('each say in a sentence why they let an issue pass', () => {
    expect(told(issue(), some())).toEqual([
      'free_here ok: nobody works on it',
      'fields ok: it has an id, an identifier, a title and a state',
      'labels ok: no label is required',
      'not_terminal ok: its state "Todo" is not terminal',
      'active ok: its state "Todo" is an active one',
      'unblocked ok: nothing blocks it',
      'dispatchable ok: the tracker lets it be worked on',
      'slot ok: 0 of 10 slots are taken',
      'slot_in_state ok: state "Todo" has no limit of its own',
    ]);
  });

  it('each say in a sentence why they refuse', () => {
    const refused = issue({ title: '', dispatchable: false, blockedBy: [{ id: 'b', identifier: 'B-1', state: null }] });
    const tracker = { requiredLabels: ['baton'], activeStates: ['x'], terminalStates: ['todo'] };
    const agent = { maxConcurrentAgents: 2, maxConcurrentAgentsByState: { todo: 1 } };
    const facts = some({ settings: settings({ tracker, agent }), runningStates: ['Todo', 'x'] });
    expect(told(refused, facts).slice(1)).toEqual([
      'fields no: it has no title',
      'labels no: it lacks the required label "baton"',
      'not_terminal no: its state "Todo" is terminal',
      'active no: its state "Todo" is not an active one',
      'unblocked no: it waits for B-1 (state unknown)',
      'dispatchable no: the tracker marks it as not for dispatch',
      'slot no: no slot (2 of 2)',
      'slot_in_state no: no slot in state "Todo" (1 of 1)',
    ]);
  });

  it('say how many slots are taken, by runs and by those that start before', () => {
    const agent = { maxConcurrentAgents: 10, maxConcurrentAgentsByState: { 'in progress': 2 } };
    const facts = some({
      settings: settings({ agent }),
      runningStates: ['In Progress'],
      startMove: { from: 'todo', to: 'In Progress' },
    });
    const gates = openGates(facts);
    const slots = (each: Issue) =>
      gates
        .askAll(each)
        .slice(-2)
        .map(({ text }) => text);
    expect(slots(issue({ id: '1' }))).toEqual([
      '1 of 10 slots is taken',
      '1 of 2 slots in state "In Progress" is taken',
    ]);
    gates.letThrough(issue({ id: '1' }));
    expect(slots(issue({ id: '2' }))).toEqual(['2 of 10 slots are taken', 'no slot in state "In Progress" (2 of 2)']);
  });

  it('from outside stand where core puts them, and one that is not handed in is not there', () => {
    const outside = {
      slot_in_baton: passing,
      own_limits: passing,
      claim_room: passing,
      review_room: passing,
      free_room: passing,
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
      'free_room',
      'review_room',
      'claim_room',
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

  it('tell of a claim before anything else: what is claimed does not wait for a pause', () => {
    const claimed = { refuse: () => ({ code: 'claimed', text: 'it runs' }) as const, passed: () => '' };
    const gates = openGates(some({ outside: { not_paused: refusing, free_here: claimed } }));
    expect(gates.whyNot(issue({ state: 'Done' }))?.code).toBe('claimed');
    expect(openGates(some({ outside: { not_paused: refusing } })).whyNot(issue({ state: 'Done' }))?.code).toBe(
      'paused',
    );
  });

  it('that refuse are the last that dispatch asks', () => {
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

it('blockers that are over, or that do not count in this state, are told as such', () => {
  const blockedBy = [{ id: 'b', identifier: 'B-1', state: 'Done' }];
  expect(told(issue({ blockedBy }), some())).toContain('unblocked ok: everything it waited for is over');
  expect(told(issue({ blockedBy, state: 'In Progress' }), some())).toContain(
    'unblocked ok: in state "In Progress" it waits for nothing',
  );
});
