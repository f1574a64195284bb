import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  countSlots,
  freeSlots,
  type Slot,
  slotsForJudges,
  slotsText,
  slotView,
  whyNoSlot,
} from '../../../src/core/dispatch/slots.ts';
import { isJudge, roles } from '../../../src/core/run/role.ts';
import { settings } from '../../fake/settings.ts';
import { workersIn } from '../../fake/slots.ts';
import { telling } from '../../telling.ts';

const limits = settings({ agent: { maxConcurrentAgents: 3, maxConcurrentAgentsByState: { todo: 1 } } });

const worker = (state: string): Slot => ({ state, role: 'worker' });

it('allows a start below both limits', () => {
  expect(whyNoSlot(worker('Todo'), workersIn('In Progress', 'In Progress'), limits)).toBeNull();
});

// @conforms 2.5
it('applies the global limit to every state', () => {
  expect(whyNoSlot(worker('In Progress'), workersIn('a', 'b', 'c'), limits)).toEqual({
    code: 'project_full',
    text: telling(3),
  });
  expect(whyNoSlot(worker('In Progress'), workersIn('a', 'b', 'c', 'd'), limits)).toEqual({
    code: 'project_full',
    text: telling(4, 3),
  });
});

// @conforms 2.6
it('counts only its own state for a limit by state, in any case', () => {
  expect(whyNoSlot(worker('TODO'), workersIn(' todo ', 'Todo'), limits)).toEqual({
    code: 'state_full',
    text: telling('"TODO"', 2, 1),
  });
  expect(whyNoSlot(worker('In Progress'), workersIn('Todo'), limits)).toBeNull();
});

it.each(['constructor', '__proto__', 'toString'])('a state called %s has only its own limit', (state) => {
  expect(whyNoSlot(worker(state), workersIn(state, state), limits)).toBeNull();
});

it('starts nothing with a limit of zero', () => {
  const none = settings({ agent: { maxConcurrentAgents: 0 } });
  expect(whyNoSlot(worker('Todo'), workersIn(), none)).toEqual({ code: 'project_full', text: telling(0) });
  const noneInState = settings({ agent: { maxConcurrentAgentsByState: { todo: 0 } } });
  expect(whyNoSlot(worker('Todo'), workersIn(), noneInState)).toEqual({
    code: 'state_full',
    text: telling('"Todo"', 0),
  });
});

it.each([
  { limit: 10, percent: 25, extra: 2 },
  { limit: 3, percent: 25, extra: 1 },
  { limit: 1, percent: 25, extra: 1 },
  { limit: 10, percent: 0, extra: 0 },
])('lets $extra judges exceed a limit of $limit at $percent %', ({ limit, percent, extra }) => {
  expect(slotsForJudges(limit, percent)).toBe(extra);
});

// @conforms 4.115
it.each([
  { roles: [], agents: [], limit: 10, text: '0 of 10', free: 10 },
  { roles: ['worker', 'judge'], agents: ['default'], limit: 10, text: '2 of 10 + 2 judges', free: 9 },
  { roles: ['worker', 'judge', 'judge'], agents: ['default'], limit: 1, text: '3 of 1 + 1 judge', free: 0 },
  // A judge that still runs after the file has none.
  { roles: ['judge'], agents: [], limit: 4, text: '1 of 4 + 1 judge', free: 4 },
] as const)('shows $text', ({ roles, agents, limit, text, free }) => {
  const usual = settings({ agent: { maxConcurrentAgents: limit } });
  const view = slotView(
    roles.map((role) => ({ role })),
    { ...usual, judge: { ...usual.judge, agents } },
  );
  expect([slotsText(view), freeSlots(view), view.judges === undefined]).toEqual([text, free, roles.length === 0]);
});

const anySlots = fc.array(fc.constantFrom(...roles), { maxLength: 30 });

// @conforms 4.114
it('never lets others than judges exceed the limit, nor all together the limit and the slots of judges', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 12 }),
      fc.constantFrom(0, 10, 25, 100),
      anySlots,
      (limit, percent, wishes) => {
        const some = settings({ agent: { maxConcurrentAgents: limit } });
        const wide = { agent: some.agent, judge: { ...some.judge, extraSlotsPercent: percent } };
        const taken: Slot[] = [];
        for (const role of wishes) {
          const slot = { state: 'Todo', role };
          if (whyNoSlot(slot, taken, wide) === null) taken.push(slot);
          const workers = taken.filter((each) => !isJudge(each.role)).length;
          const extra = slotsForJudges(limit, percent);
          expect(workers).toBeLessThanOrEqual(limit);
          expect(taken.length).toBeLessThanOrEqual(limit + extra);
          // A judge waits only when everything is taken.
          if (isJudge(role) && taken.length < limit + extra) expect(whyNoSlot(slot, taken, wide)).toBeNull();
        }
      },
    ),
  );
});

// @conforms 4.114
it('starts no judge in an extra slot while workers exceed a limit that was lowered', () => {
  const lowered = settings({ agent: { maxConcurrentAgents: 1 } });
  const judge = { state: 'Review', role: 'judge' } as const;
  expect(whyNoSlot(judge, workersIn('Todo', 'Todo'), lowered)?.code).toBe('project_full');
  expect(whyNoSlot(judge, workersIn('Todo'), lowered)).toBeNull();
});

// @conforms 4.112
it('keeps the last slot for workers, while one waits and the limit is at least two', () => {
  const judges = (count: number): Slot[] => Array.from({ length: count }, () => ({ state: 'Review', role: 'judge' }));
  const whyNone = (taken: Slot[], max: number, isWaiting: boolean) => {
    const some = settings({ agent: { maxConcurrentAgents: max } });
    return countSlots(taken, some).whyNone('judge', () => isWaiting)?.code ?? null;
  };
  // Three slots and one for judges: three judges leave one slot.
  expect(whyNone(judges(2), 3, true)).toBeNull();
  expect(whyNone(judges(3), 3, true)).toBe('project_full');
  expect(whyNone(judges(3), 3, false)).toBeNull();
  expect(whyNone(judges(1), 1, true)).toBeNull();
  expect(whyNone(judges(2), 1, true)).toBe('project_full');
});

// @conforms 4.112
it.each(roles.filter((role) => role !== 'worker' && !isJudge(role)))(
  'counts the agent of a %s as one that leaves a slot to workers',
  (role) => {
    const some = settings({ agent: { maxConcurrentAgents: 2 } });
    const whyNone = (wanted: Slot['role'], isWaiting: boolean) =>
      countSlots([{ state: 'Todo', role }], some).whyNone(wanted, () => isWaiting)?.code ?? null;
    expect([whyNone(role, true), whyNone('phase', true)]).toEqual(['project_full', 'project_full']);
    expect([whyNone(role, false), whyNone('worker', true)]).toEqual([null, null]);
  },
);
