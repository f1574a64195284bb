import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Issue } from '../../../src/core/issue/issue.ts';
import type { Snapshot, SnapshotRequest } from '../../../src/tracker/tracker.ts';
import type { Fault } from '../../fake/linear/faults.ts';
import { runs } from '../../property-runs.ts';
import { linearScene } from './linear-scene.ts';

const hourMs = 3_600_000;
/** How late a change may appear. */
const lateMs = 120_000;
/** The number of issues that fill one page of changes, including the extra places. */
const mostOnAPage = 35;
const states = ['Backlog', 'Todo', 'In Progress', 'In Review', 'Done', 'Canceled'];

const which = fc.nat({ max: 30 });
/** Whether a change that may or may not leave a trace leaves one. */
const touch = fc.boolean();

const relationTouch = fc.constantFrom('none' as const, 'blocker' as const, 'blocked' as const, 'both' as const);

/** Actions of people in Linear, and of Baton next to them. */
const acts = [
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      which,
      state: fc.constantFrom(...states),
      late: fc.nat({ max: lateMs - 1_000 }),
    }),
  },
  fc.record({ do: fc.constant('label' as const), which, labels: fc.subarray(['a', 'b', 'c']) }),
  fc.record({
    do: fc.constant('relate' as const),
    which,
    other: which,
    touch: relationTouch,
  }),
  fc.record({ do: fc.constant('unrelate' as const), which, touch: relationTouch }),
  fc.record({
    do: fc.constant('put_away' as const),
    which,
    touch,
    how: fc.constantFrom('archive' as const, 'trash' as const, 'restore' as const),
  }),
  fc.record({ do: fc.constant('remove' as const), which }),
  fc.record({ do: fc.constant('project' as const), which, project: fc.constantFrom('baton', 'other') }),
  fc.record({ do: fc.constant('assign' as const), which, to: fc.constantFrom('Someone', 'Other', null) }),
  fc.record({ do: fc.constant('add' as const), state: fc.constantFrom(...states) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 40 * 60_000 }) }) },
  fc.record({
    do: fc.constant('fail' as const),
    fault: fc.constantFrom<Fault>(
      { kind: 'status', status: 500 },
      { kind: 'garbage' },
      { kind: 'cut', where: 'in_body' },
    ),
    operation: fc.constantFrom(
      'BatonChanges',
      'BatonMoreChanges',
      'BatonFullRead',
      'BatonCandidates',
      'BatonIssuesById',
    ),
  }),
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('poll' as const),
      watched: fc.array(which, { maxLength: 14 }),
      states: fc.constantFrom(['Todo', 'In Progress'], ['Todo', 'In Progress'], ['todo', 'In Review']),
    }),
  },
] as const;

const small = fc.oneof(...acts);

/** The same, plus actions that change more issues at once than a page holds. */
const great = fc.oneof(
  ...acts,
  fc.record({
    do: fc.constant('import' as const),
    count: fc.integer({ min: 41, max: 130 }),
    state: fc.constantFrom(...states),
  }),
  fc.record({ do: fc.constant('touch_all' as const) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 150_000 }) }) },
);

type Act = typeof great extends fc.Arbitrary<infer Each> ? Each : never;
type ActNamed<Name extends Act['do']> = Extract<Act, { readonly do: Name }>;

// @conforms linear.13
it('shows watched issues as they are, and the others as they are or, after a change without a trace, as they were within the hour', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(small, { minLength: 5, maxLength: 60, size: 'max' }), (acts) => live(acts, 'small')),
    { numRuns: runs(150) },
  );
}, 120_000);

it('shows the same when many issues change at once; only changes that Linear shows late may be two minutes late', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(great, { minLength: 5, maxLength: 40, size: 'max' }), (acts) => live(acts, 'great')),
    { numRuns: runs(60) },
  );
}, 120_000);

it('shows a change in the millisecond of the newest known change when the full read listed few changes', async () => {
  const poll: Act = { do: 'poll', watched: [], states: ['Todo', 'In Progress'] };
  await live(
    [
      { do: 'add', state: 'Backlog' },
      { do: 'add', state: 'Backlog' },
      { do: 'move', which: 9, state: 'Backlog', late: 0 },
      { do: 'add', state: 'Backlog' },
      poll,
      poll,
      { do: 'project', which: 0, project: 'baton' },
      { do: 'move', which: 0, state: 'In Progress', late: 0 },
      { do: 'project', which: 0, project: 'baton' },
      poll,
    ],
    'small',
  );
});

it('shows the new state of a blocker late when Linear shows the change of the blocker late', async () => {
  const poll: Act = { do: 'poll', watched: [], states: ['Todo', 'In Progress'] };
  await live(
    [
      { do: 'import', count: 41, state: 'In Progress' },
      { do: 'relate', which: 29, other: 14, touch: 'none' },
      poll,
      { do: 'move', which: 29, state: 'Backlog', late: 1 },
      { do: 'label', which: 0, labels: [] },
      { do: 'put_away', which: 0, touch: false, how: 'archive' },
      poll,
      poll,
      { do: 'wait', ms: lateMs },
      poll,
    ],
    'great',
  );
});

async function live(acts: readonly Act[], size: 'small' | 'great'): Promise<void> {
  const scene = world(size);
  for (const each of acts) await (scene.acts[each.do] as (act: Act) => unknown)(each);
  expect(scene.linear.complaints).toEqual([]);
}

/**
 * A Linear with some issues in two projects, the adapter under test, another one without kept state that reads the
 * truth, and the effect of each action.
 */
function world(size: 'small' | 'great') {
  const { linear, tracker, clock, fresh } = linearScene({ assignee: 'me' });
  const { records } = linear;
  const home = linear.records.projects.values().next().value?.id;
  linear.addProject({ slugId: 'other' });
  linear.addUser({ name: 'Other' });
  for (let count = 0; count < 14; count += 1) {
    linear.addIssue({ state: states[count % 4] ?? 'Todo', assignee: count % 3 === 0 ? null : 'Someone' });
  }

  /** When an issue last changed without a trace in it or in a blocker of the project. */
  const untraced = new Map<string, number>();
  const excuse = (...ids: readonly string[]): void => {
    for (const id of ids) untraced.set(id, clock.now());
  };
  /** When a change appeared late. */
  const late = new Map<string, number>();
  /** When a full read failed, if none has succeeded since: it is repeated within an hour. */
  let failedAt: number | null = null;
  const isWithin = (since: number | null | undefined, ms: number): boolean =>
    since !== null && since !== undefined && clock.now() - since < ms;
  const isExcused = (id: string): boolean => {
    const at = untraced.get(id);
    if (isWithin(at, hourMs) || (at !== undefined && isWithin(failedAt, hourMs))) return true;
    return size === 'great' && (isWithin(failedAt, hourMs) || isWithin(late.get(id), lateMs));
  };
  /** After it everything is current. */
  const fullReadSucceeded = (): void => {
    untraced.clear();
    late.clear();
    failedAt = null;
  };
  const pick = (at: number): string => {
    const id = [...records.issues.keys()][at % records.issues.size];
    return id ?? linear.addIssue().id;
  };
  const blockedBy = (id: string): string[] =>
    [...records.relations.values()].flatMap((each) => (each.issueId === id ? each.relatedIssueId : []));
  const excuseElsewhere = (id: string, ...ids: readonly string[]): void => {
    if (linear.issue(id).projectId !== home) excuse(...ids);
  };
  const excuseUntouched = (touch: string, blocked: string): void => {
    if (touch === 'none' || touch === 'blocker') excuse(blocked);
  };
  const isRight = async (wish: SnapshotRequest, snapshot: Snapshot): Promise<void> => {
    const found = byId(await fresh().fetchByIds(wish.watched));
    expect(new Map(snapshot.watched)).toEqual(new Map(wish.watched.map((id) => [id, found.get(id) ?? null])));
    const sure = (issues: readonly Issue[]) => byId(issues.filter(({ id }) => !isExcused(id)));
    const truth = await fresh().fetchByStates(wish.states);
    expect(sure(snapshot.issues)).toEqual(sure(truth));
    if (snapshot.seen === undefined) return expect(byId(snapshot.issues)).toEqual(byId(truth));
    const seen = (issues: readonly Issue[]) => byId(issues.filter(({ id }) => snapshot.seen?.has(id)));
    expect(seen(snapshot.issues)).toEqual(seen(truth));
    expect(new Set(seen(truth).keys())).toEqual(snapshot.seen);
  };

  const acts: { readonly [Name in Act['do']]: (act: ActNamed<Name>) => unknown } = {
    add: ({ state }) => {
      if (size === 'great' || records.issues.size < mostOnAPage) linear.addIssue({ state });
    },
    import: ({ count, state }) => {
      for (let made = 0; made < count; made += 1) linear.addIssue({ state, assignee: 'Someone' });
    },
    touch_all: () => {
      for (const id of records.issues.keys()) linear.updateIssue(id, { title: `Touched at ${clock.now()}` });
    },
    wait: ({ ms }) => clock.advance(ms),
    move: ({ which, state, late: by }) => {
      const id = pick(which);
      const issue = linear.updateIssue(id, { state });
      // It appears with a slightly old time, as when a long transaction ends.
      issue.updatedAt = Math.max(issue.createdAt, clock.now() - by);
      // The state of a blocker comes with the change of the blocker, so the blocked issue is just as late.
      for (const each of [id, ...blockedBy(id)]) late.set(each, clock.now());
      excuseElsewhere(id, ...blockedBy(id));
    },
    label: ({ which, labels }) => linear.updateIssue(pick(which), { labels }),
    assign: ({ which, to }) => linear.updateIssue(pick(which), { assignee: to }),
    project: ({ which, project }) => {
      const { id } = linear.updateIssue(pick(which), { project });
      excuseElsewhere(id, id);
    },
    remove: ({ which }) => {
      const id = pick(which);
      excuse(id, ...blockedBy(id));
      linear.remove(id);
    },
    put_away: ({ which, how, touch }) => {
      const id = pick(which);
      linear[how](id, { touch });
      if (!touch) excuse(id);
    },
    relate: ({ which, other, touch }) => {
      const [blocker, blocked] = [pick(which), pick(other)];
      if (blocker === blocked || blockedBy(blocker).includes(blocked)) return;
      linear.relate(blocker, blocked, { touch });
      excuseUntouched(touch, blocked);
    },
    unrelate: ({ which, touch }) => {
      const blocker = pick(which);
      const [blocked] = blockedBy(blocker);
      if (blocked === undefined) return;
      linear.unrelate(blocker, blocked, { touch });
      excuseUntouched(touch, blocked);
    },
    fail: ({ fault, operation }) => linear.faults.next.push({ ...fault, operation }),
    poll: async ({ watched, states }) => {
      const wish = { states, watched: [...watched.map(pick), '00000000-0000-4000-8000-00000000ffff'] };
      const isFailing = linear.faults.next.length > 0;
      const before = linear.requests.length;
      const snapshot = await tracker.fetchSnapshot?.(wish).catch((error: unknown) => {
        if (!isFailing) throw error;
      });
      linear.faults.clear();
      const isFull = linear.requests.slice(before).some(({ operation }) => operation === 'BatonFullRead');
      if (isFull && snapshot === undefined) failedAt = clock.now();
      if (isFull && snapshot !== undefined) fullReadSucceeded();
      if (snapshot !== undefined) await isRight(wish, snapshot);
      // A change in the millisecond of the newest known change is like one that appears late.
      if (size === 'great') await clock.advance(1);
    },
  };
  return { linear, acts };
}

function byId(issues: readonly Issue[]): Map<string, Issue> {
  return new Map(issues.map((issue) => [issue.id, issue]));
}
