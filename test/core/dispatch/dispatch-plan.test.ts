import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareForDispatch } from '../../../src/core/dispatch/dispatch-order.ts';
import { type DispatchFacts, explainDispatch, planDispatch } from '../../../src/core/dispatch/dispatch-plan.ts';
import type { SkipReason } from '../../../src/core/dispatch/eligibility.ts';
import type { OutsideGates } from '../../../src/core/dispatch/gates.ts';
import type { Issue } from '../../../src/core/issue/issue.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { workersIn } from '../../fake/slots.ts';
import { runs } from '../../property-runs.ts';
import { telling } from '../../telling.ts';

const key = (name: string): string => name.trim().toLowerCase();

/** A reason by its code and the data that its sentence has to carry. */
interface ExpectedReason {
  readonly code: SkipReason['code'];
  readonly text: string;
}

/** The rules as they are written down, one after the other, without a thought about speed. */
function naivePlan({
  issues,
  settings: { tracker, agent },
  taken,
  startMove,
  outside,
}: DispatchFacts): { readonly issue: Issue; readonly reason: ExpectedReason | null }[] {
  const running = taken.map(({ state }) => state);
  const started: string[] = [];
  const isIn = (names: readonly string[], state: string) => names.some((name) => key(name) === key(state));
  const refusals = (each: Issue): (ExpectedReason | null | undefined)[] => {
    const after = startMove !== undefined && key(startMove.from) === key(each.state) ? startMove.to : each.state;
    const taken = running.filter((state) => key(state) === key(after)).length;
    const limit = Object.entries(agent.maxConcurrentAgentsByState).find(([name]) => name === key(after))?.[1];
    const missing = (['id', 'identifier', 'title', 'state'] as const).filter((name) => each[name].trim() === '');
    const lacking = tracker.requiredLabels.filter((label) => label === '' || !each.labels.includes(label));
    const open = each.blockedBy.filter(({ state }) => state === null || !isIn(tracker.terminalStates, state));
    const ask = (name: keyof OutsideGates) => outside[name]?.refuse(each, started.length);
    const unless = (ok: boolean, code: SkipReason['code'], ...data: readonly (string | number)[]) =>
      ok ? null : { code, text: telling(...data) };
    return [
      unless(!started.includes(each.id), 'claimed'),
      ...(['free_here', 'free_elsewhere', 'workflow', 'not_paused', 'day_limit', 'headroom'] as const).map(ask),
      unless(missing.length === 0, 'missing_field', ...missing),
      unless(lacking.length === 0, 'missing_label', ...lacking.map((label) => `"${label}"`)),
      unless(!isIn(tracker.terminalStates, each.state), 'terminal_state', `"${each.state}"`),
      unless(isIn(tracker.activeStates, each.state), 'inactive_state', `"${each.state}"`),
      unless(
        key(each.state) !== 'todo' || open.length === 0,
        'blocked',
        ...open.flatMap(({ identifier, state }) => [identifier ?? '', state ?? '']),
      ),
      unless(each.dispatchable, 'not_dispatchable'),
      ask('chosen'),
      ask('own_limits'),
      unless(running.length < agent.maxConcurrentAgents, 'project_full', running.length, agent.maxConcurrentAgents),
      unless(limit === undefined || taken < limit, 'state_full', `"${after}"`, taken, limit ?? ''),
      ask('slot_in_baton'),
    ];
  };
  return issues.toSorted(compareForDispatch).map((each) => {
    const reason = refusals(each).find((found) => found !== null && found !== undefined) ?? null;
    if (reason === null) {
      started.push(each.id);
      const isMoved = startMove !== undefined && key(startMove.from) === key(each.state);
      running.push(isMoved ? startMove.to : each.state);
    }
    return { issue: each, reason };
  });
}

const states = [
  'Todo',
  ' TODO',
  'In Progress',
  'in progress ',
  'Rework',
  'Done',
  'Backlog',
  'constructor',
  '__proto__',
];
const anyState = fc.constantFrom(...states);
const labels = ['baton', 'ui', ''];

const anyIssue = fc
  .record({
    id: fc.integer({ min: 0, max: 30 }).map((number) => `id-${number}`),
    identifier: fc.integer({ min: 0, max: 30 }).map((number) => (number === 0 ? ' ' : `T-${number}`)),
    title: fc.constantFrom('A title', 'A title', 'A title', ''),
    state: fc.oneof({ weight: 9, arbitrary: anyState }, fc.constant(' ')),
    priority: fc.option(fc.integer({ min: -1, max: 6 })),
    createdAt: fc.option(fc.integer({ min: 0, max: 3 })),
    labels: fc.subarray(['baton', 'ui']),
    dispatchable: fc.integer({ min: 0, max: 9 }).map((number) => number > 0),
    blockedBy: fc.array(
      fc.record({ id: fc.constant('b'), identifier: fc.constant('B-1'), state: fc.option(anyState) }),
      {
        maxLength: 2,
      },
    ),
  })
  .map((parts) => issue(parts));

/** Refuses some issues by id, and everything after so many starts. */
const anyOutside = fc
  .record({
    claimed: fc.subarray(['id-1', 'id-2', 'id-3', 'id-4']),
    elsewhere: fc.subarray(['id-3', 'id-4', 'id-5']),
    paused: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    runs: fc.option(fc.nat(8)),
    shared: fc.option(fc.nat(8)),
  })
  .map(({ claimed, elsewhere, paused, runs, shared }): OutsideGates => {
    const gate = (code: SkipReason['code'], refuses: (each: Issue, startsBefore: number) => boolean) => ({
      refuse: (each: Issue, startsBefore: number) =>
        refuses(each, startsBefore) ? { code, text: `no: ${code}` } : null,
      passed: () => `yes: ${code}`,
    });
    return {
      free_here: gate('claimed', ({ id }) => claimed.includes(id)),
      free_elsewhere: gate('claimed_elsewhere', ({ id }) => elsewhere.includes(id)),
      not_paused: gate('paused', () => paused),
      ...(runs === null ? {} : { chosen: gate('not_chosen', (_each, startsBefore) => startsBefore >= runs) }),
      ...(shared === null
        ? {}
        : { slot_in_baton: gate('global_full', (_each, startsBefore) => startsBefore >= shared) }),
    };
  });

const anyFacts: fc.Arbitrary<DispatchFacts> = fc
  .record({
    issues: fc.array(anyIssue, { maxLength: 40 }),
    taken: fc.array(anyState, { maxLength: 8 }).map((states) => workersIn(...states)),
    startMove: fc.option(fc.constant({ from: 'todo', to: 'In Progress' }), { nil: undefined }),
    maxConcurrentAgents: fc.integer({ min: 0, max: 15 }),
    byState: fc.dictionary(fc.constantFrom('todo', 'in progress', 'rework', 'constructor'), fc.nat(5)),
    activeStates: fc.subarray(states, { minLength: 1 }),
    terminalStates: fc.subarray(['done', 'BACKLOG', 'Rework']),
    requiredLabels: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(labels)),
    outside: anyOutside,
  })
  .map(({ issues, taken, startMove, outside, maxConcurrentAgents, byState, ...tracker }) => ({
    issues,
    taken,
    startMove,
    outside,
    settings: settings({ agent: { maxConcurrentAgents, maxConcurrentAgentsByState: byState }, tracker }),
  }));

describe('a plan', () => {
  // @conforms tick.10
  it('equals the rules applied one by one, for any input', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(planDispatch(facts)).toEqual(naivePlan(facts));
      }),
      { numRuns: runs(500) },
    );
  });

  // @conforms 2.8
  it('exceeds no limit, starts no issue twice, and gives every other issue a reason', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { agent } = facts.settings;
        const plan = planDispatch(facts);
        expect(plan).toHaveLength(facts.issues.length);
        for (const { reason } of plan) expect(reason === null || reason.text.trim() !== '').toBe(true);
        const starting = plan.filter(({ reason }) => reason === null).map((decision) => decision.issue);
        expect(new Set(starting.map(({ id }) => id)).size).toBe(starting.length);
        const free = Math.max(0, agent.maxConcurrentAgents - facts.taken.length);
        expect(starting.length).toBeLessThanOrEqual(free);
        for (const [state, limit] of Object.entries(agent.maxConcurrentAgentsByState)) {
          const move = facts.startMove;
          const slots = starting.map((each) =>
            key(move !== undefined && key(each.state) === 'todo' ? move.to : each.state),
          );
          const before = facts.taken.filter((each) => key(each.state) === state).length;
          const after = slots.filter((each) => each === state).length;
          if (after > 0) expect(before + after).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });

  // @conforms tick.11
  it('starts an issue once that the tracker listed twice', () => {
    const twice = [issue({ id: 'a', state: 'Todo' }), issue({ id: 'a', state: 'In Progress' })];
    const plan = planDispatch({
      issues: twice,
      settings: settings(),
      taken: [],
      startMove: undefined,
      outside: {},
    });
    expect(plan.map(({ reason }) => reason?.code ?? 'starts')).toEqual(['starts', 'claimed']);
  });

  it('does not change the given list', () => {
    const issues = [issue({ id: '2', priority: 4 }), issue({ id: '1', priority: 1 })];
    planDispatch({ issues, settings: settings(), taken: [], startMove: undefined, outside: {} });
    expect(issues.map(({ id }) => id)).toEqual(['2', '1']);
  });
});

describe('an explanation', () => {
  // @conforms tick.12
  it('agrees with the plan about each issue, at its place in the order', () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        // An issue that is named twice has two answers.
        const issues = [...new Map(given.issues.map((each) => [each.id, each])).values()];
        const facts = { ...given, issues };
        const plan = planDispatch(facts);
        let starts = 0;
        for (const { issue: each, reason } of plan) {
          const { answers, startsBefore } = explainDispatch(each, facts);
          expect(answers.find(({ refusal }) => refusal !== null)?.refusal ?? null).toEqual(reason);
          expect(startsBefore).toBe(starts);
          if (reason === null) starts += 1;
        }
      }),
    );
  });

  it('covers an issue that is not a candidate, with every gate that refuses it', () => {
    const done = issue({ id: 'x', state: 'Done', labels: [] });
    const tracker = { requiredLabels: ['baton'] };
    const { answers } = explainDispatch(done, {
      issues: [],
      settings: settings({ tracker }),
      taken: [],
      startMove: undefined,
      outside: {},
    });
    expect(answers.flatMap(({ refusal }) => refusal?.code ?? [])).toEqual([
      'missing_label',
      'terminal_state',
      'inactive_state',
    ]);
  });
});

// @conforms 4.108
it('starts judges before workers, each by priority and age', () => {
  const [urgent, old, judged, alsoJudged] = [
    issue({ id: 'urgent', identifier: 'T-1', priority: 1 }),
    issue({ id: 'old', identifier: 'T-2', priority: 3, createdAt: 1 }),
    issue({ id: 'judged', identifier: 'T-3', priority: 4, state: 'In Review' }),
    issue({ id: 'also judged', identifier: 'T-4', priority: 2, state: 'In Review' }),
  ];
  const all = settings({ tracker: { reviewStates: ['In Review'] }, agent: { maxConcurrentAgents: 10 } });
  const plan = planDispatch({
    issues: [old, judged, urgent, alsoJudged],
    settings: all,
    taken: [],
    roleOf: ({ state }) => (state === 'In Review' ? 'judge' : 'worker'),
    startMove: undefined,
    outside: {},
  });
  expect(plan.map(({ issue: { id }, reason }) => [id, reason])).toEqual([
    ['also judged', null],
    ['judged', null],
    ['urgent', null],
    ['old', null],
  ]);
});
