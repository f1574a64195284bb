import { describe, expect, it, vi } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { type Issue, normalizeState } from '../../src/core/issue/issue.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import type { Snapshot, SnapshotRequest } from '../../src/tracker/tracker.ts';
import { onEngine } from '../conformance/store.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { engines } from '../store/engines.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, besides, gate, type Scene, type SceneOptions, scene } from './scene.ts';

const minute = 60_000;
const hour = 60 * minute;
/** Dozens of polls, and more than an issue waits for a place in one. */
const awhile = 20 * minute;
const person = { kind: 'person', name: 'me' } as const;
const intervalMs = 30_000;
const withReview = settings({ intervalMs, tracker: { reviewStates: ['In Review'] } });
const url = 'https://example.org/1';

function trackerOf(clock: SimulatedClock, ...issues: readonly Issue[]): MemoryTracker {
  const states = ['Backlog', 'Todo', 'In Progress', 'In Review', 'Done', 'Cancelled'];
  return new MemoryTracker({ issues, states, clock });
}

/** A scene with one issue, whose agent has not begun yet. */
async function withTicket(options: SceneOptions = {}): Promise<Scene> {
  const clock = options.clock ?? new SimulatedClock();
  const tracker = options.tracker ?? trackerOf(clock, issue({ id: '1', url }));
  return begun({ settings: withReview, ...options, clock, tracker });
}

const move = ({ tracker }: Pick<Scene, 'tracker'>, state: string, id = '1') =>
  tracker.changes.moveIssue(id, state, person);

/** Its agent moves the issue, the run ends, and the look after it gives the claim back. */
async function work(stage: Scene, movesTo = 'In Review'): Promise<void> {
  const run = stage.runs.at(-1);
  run?.request.report({ kind: 'moved', to: movesTo });
  await move(stage, movesTo);
  run?.succeed();
  await stage.clock.advance(2_000);
  expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
}

async function reviewed(options: SceneOptions = {}): Promise<Scene> {
  const stage = await withTicket(options);
  await work(stage);
  return stage;
}

const completed = ({ orchestrator }: Scene) => orchestrator.read().completed;
const stored = ({ store, project }: Scene) => store.finishedIssues.latest(project, { from: 0, limit: 99 });
const finished = { issue: { id: '1', identifier: 'T-1', title: 'Title of 1', url }, state: 'Done' };

describe('an issue that a person closes after its run', () => {
  // @conforms api.33
  it('is recorded once, at the poll that shows it, with title and address', async () => {
    const stage = await reviewed();
    await stage.clock.advance(awhile);
    expect(completed(stage)).toEqual([]);
    const closedAt = stage.clock.now();
    await move(stage, 'Done');
    await stage.clock.advance(intervalMs * 1.1);
    const [entry] = completed(stage);
    expect(completed(stage)).toEqual([{ ...finished, at: entry?.at }]);
    expect((entry?.at ?? 0) - closedAt).toBeLessThanOrEqual(intervalMs * 1.1);
    await stage.clock.advance(awhile);
    expect(completed(stage)).toEqual([entry]);
    const { issue: name, ...rest } = finished;
    const { id: issueId, ...names } = name;
    expect(await stored(stage)).toEqual([{ project: stage.project, issueId, ...names, ...rest, at: entry?.at }]);
  });

  // @conforms api.33
  it('is recorded even when no poll saw it in review', async () => {
    const stage = await reviewed();
    await move(stage, 'Done');
    await stage.clock.advance(awhile);
    expect(completed(stage)).toMatchObject([finished]);
  });

  it('is recorded after a restart', async () => {
    const first = await reviewed();
    await first.clock.advance(awhile);
    first.kill();
    const { store, clock, tracker } = first;
    const second = await begun({ store, clock, tracker, settings: withReview });
    await clock.advance(awhile);
    expect(completed(second)).toEqual([]);
    await move(second, 'Cancelled');
    await clock.advance(minute);
    expect(completed(second)).toMatchObject([{ ...finished, state: 'Cancelled' }]);
  });

  it('is recorded when its agent left it in an unlisted state, where reading costs nothing', async () => {
    const stage = await withTicket({ isLocal: true });
    await work(stage, 'Backlog');
    await stage.clock.advance(awhile);
    await move(stage, 'Done');
    await stage.clock.advance(minute);
    expect(completed(stage)).toMatchObject([finished]);
  });

  it('is recorded when its run was stopped because someone moved the issue', async () => {
    const stage = await withTicket({ isLocal: true });
    await move(stage, 'Backlog');
    await stage.clock.advance(minute);
    expect(stage.runs[0]?.stops).toEqual(['inactive_state']);
    stage.runs[0]?.end();
    await stage.clock.advance(minute);
    await move(stage, 'Done');
    await stage.clock.advance(minute);
    expect(completed(stage)).toMatchObject([finished]);
  });

  it('is recorded when it was held, and a person moved it away first', async () => {
    const stage = await withTicket({ isLocal: true });
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(1_000);
    expect(stage.orchestrator.read().held).toHaveLength(1);
    await move(stage, 'Backlog');
    await stage.clock.advance(minute);
    expect(stage.orchestrator.read()).toMatchObject({ held: [], completed: [] });
    await move(stage, 'Done');
    await stage.clock.advance(minute);
    expect(completed(stage)).toMatchObject([finished]);
  });

  it('is recorded when it was released during a poll that still shows it in progress', async () => {
    const stage = await withTicket();
    const { passed, open } = gate();
    snapshots(stage, [], { has: true, passed });
    await stage.clock.advance(minute);
    expect(stage.orchestrator.read().polling.pollCheckInProgress).toBe(true);
    await work(stage);
    open();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().polling.pollCheckInProgress).toBe(false);
    await move(stage, 'Done');
    await stage.clock.advance(2 * minute);
    expect(completed(stage)).toMatchObject([finished]);
  });

  it('has the later time when it was reopened and finished again, with or without a run in between', async () => {
    const stage = await reviewed();
    const times: number[] = [];
    for (const isWorkedOn of [false, false, true]) {
      await move(stage, isWorkedOn ? 'Todo' : 'In Review');
      await stage.clock.advance(awhile);
      if (isWorkedOn) await work(stage);
      await move(stage, 'Done');
      await stage.clock.advance(minute);
      const entries = completed(stage);
      expect(entries).toMatchObject([finished]);
      times.push(entries[0]?.at ?? 0);
      expect((await stored(stage)).map(({ at }) => at)).toEqual([times.at(-1)]);
    }
    expect(times[1]).toBeGreaterThan((times[0] ?? 0) + awhile);
    expect(times[2]).toBeGreaterThan((times[1] ?? 0) + awhile);
  });

  it('is not recorded when it becomes active again, also when a person then closes it, or when it is gone', async () => {
    const stage = await reviewed();
    expect(await stage.command('pause')).toMatchObject({ status: 'done' });
    await move(stage, 'Todo');
    await stage.clock.advance(minute);
    await move(stage, 'Done');
    await stage.clock.advance(awhile);
    expect(completed(stage)).toEqual([]);
    const other = await reviewed();
    await other.clock.advance(minute);
    other.tracker.remove('1');
    await other.clock.advance(awhile);
    expect([completed(other), await stored(other)]).toEqual([[], []]);
  });
});

describe('an issue that Baton did not work on', () => {
  // @conforms api.34
  it('is not recorded, and the store is asked about it once', async () => {
    const clock = new SimulatedClock();
    const tracker = trackerOf(clock, issue({ id: 'theirs', state: 'In Review' }), issue({ id: '1', url }));
    const asked: string[] = [];
    const stage = await withTicket({
      clock,
      tracker,
      through: (store) => storeThrough(store, { before: (call) => void asked.push(call) }),
    });
    await work(stage);
    await clock.advance(awhile);
    expect(asked.filter((call) => call === 'runs.latestStarts')).toHaveLength(1);
    for (const id of ['theirs', '1']) await move(stage, 'Done', id);
    await clock.advance(awhile);
    expect(completed(stage)).toMatchObject([finished]);
  });
});

describe('a finished issue', () => {
  // @conforms api.35
  it('is still known after a restart and after a kill, for a day', async () => {
    const first = await reviewed();
    await move(first, 'Done');
    await first.clock.advance(minute);
    const before = completed(first);
    expect(before).toHaveLength(1);
    await first.orchestrator.stop();
    const { store, clock, tracker } = first;
    const second = await scene({ store, clock, tracker, settings: withReview });
    await second.orchestrator.start();
    expect(completed(second)).toEqual(before);
    second.kill();
    const third = await begun({ store, clock, tracker, settings: withReview });
    expect(completed(third)).toEqual(before);
    await third.orchestrator.stop();
    await clock.advance(24 * hour);
    expect(completed(await begun({ store, clock, tracker, settings: withReview }))).toEqual([]);
  });

  it('that finished while Baton had it is still known after a restart', async () => {
    const first = await withTicket();
    await move(first, 'Done');
    await first.clock.advance(minute);
    first.runs[0]?.end();
    await first.clock.advance(0);
    const before = completed(first);
    expect(before).toMatchObject([finished]);
    first.kill();
    const { store, clock, tracker } = first;
    expect(completed(await begun({ store, clock, tracker, settings: withReview }))).toEqual(before);
  });
});

// @conforms api.36
describe('while something fails', () => {
  it('failed polls lose nothing', async () => {
    const stage = await reviewed();
    await stage.clock.advance(minute);
    const { fetchByStates, fetchByIds } = stage.tracker;
    const fail = () => Promise.reject(new BatonError('tracker_request', 'down'));
    for (const reads of [{ fetchByStates: fail }, { fetchByIds: fail }]) {
      Object.assign(stage.tracker, reads);
      await move(stage, 'Done');
      await stage.clock.advance(10 * minute);
      expect(stage.orchestrator.read().errors.length).toBeGreaterThan(0);
      Object.assign(stage.tracker, { fetchByStates, fetchByIds });
      const failedUntil = stage.clock.now();
      await stage.clock.advance(20 * minute);
      expect(completed(stage)).toMatchObject([finished]);
      expect(completed(stage)[0]?.at).toBeGreaterThanOrEqual(failedUntil);
      await move(stage, 'In Review');
      await stage.clock.advance(2 * minute);
    }
  });

  it('a store that cannot list runs is asked again, also about issues that left since', async () => {
    const first = await reviewed();
    first.kill();
    const { store, clock, tracker } = first;
    let isBroken = true;
    const second = await begun({
      store,
      clock,
      tracker,
      settings: withReview,
      through: (given) =>
        storeThrough(given, {
          before: (call) => {
            if (isBroken && call === 'runs.latestStarts') throw new BatonError('store_unavailable', 'down');
          },
        }),
    });
    await clock.advance(minute);
    await move(second, 'Done');
    await clock.advance(awhile);
    expect(completed(second)).toEqual([]);
    isBroken = false;
    await clock.advance(minute);
    expect(completed(second)).toMatchObject([finished]);
  });

  it.each(['before', 'after'] as const)(
    'a store that fails %s it has written: people see the issue at once, and also after a restart',
    async (when) => {
      let isBroken = true;
      const refuse = (call: string): void => {
        if (isBroken && call === 'finishedIssues.note') throw new BatonError('store_unavailable', 'down');
      };
      const stage = await reviewed({ through: (store) => storeThrough(store, { [when]: refuse }) });
      await move(stage, 'Done');
      await stage.clock.advance(minute);
      const seen = completed(stage);
      expect(seen).toMatchObject([finished]);
      isBroken = false;
      await stage.clock.advance(minute);
      expect(completed(stage)).toEqual(seen);
      expect((await stored(stage)).map(({ at }) => at)).toEqual([seen[0]?.at]);
      await stage.orchestrator.stop();
    },
  );

  it('a daemon that stops tries once more to write, and does not wait', async () => {
    let isBroken = true;
    const before = (call: string): void => {
      if (isBroken && call === 'finishedIssues.note') throw new BatonError('store_full', 'full');
    };
    const stage = await reviewed({ through: (store) => storeThrough(store, { before }) });
    await move(stage, 'Done');
    await stage.clock.advance(minute);
    isBroken = false;
    await stage.orchestrator.stop();
    expect(await stored(stage)).toMatchObject([{ issueId: '1' }]);
  });

  it('a restored store removes nothing from memory', async () => {
    const stage = await reviewed();
    await move(stage, 'Done');
    await stage.clock.advance(minute);
    const seen = completed(stage);
    await stage.store.finishedIssues.prune(Number.MAX_SAFE_INTEGER, 99);
    stage.orchestrator.reload();
    await stage.clock.advance(minute);
    expect(completed(stage)).toEqual(seen);
  });
});

describe('the requests for following issues', () => {
  it('are none while nothing changes, and one when an issue has left review', async () => {
    const stage = await reviewed();
    await stage.clock.advance(10 * minute);
    const before = stage.calls.length;
    await stage.clock.advance(awhile);
    const reads = stage.calls.slice(before);
    expect(reads.map(({ kind }) => kind)).not.toContain('ids');
    expect(reads.length).toBeGreaterThan(30);
    await move(stage, 'Done');
    await stage.clock.advance(awhile);
    const later = stage.calls.slice(before + reads.length).filter(({ kind }) => kind === 'ids');
    expect(later).toMatchObject([{ asked: ['1'] }]);
  });

  it('share the poll when it is one request; an issue without space for ten minutes is read alone', async () => {
    const stage = await reviewed();
    const wishes: SnapshotRequest[] = [];
    const room = { has: true };
    snapshots(stage, wishes, room);
    await stage.clock.advance(10 * minute);
    expect(wishes.at(-1)).toMatchObject({ watched: [], welcome: ['1'] });
    await move(stage, 'Done');
    await stage.clock.advance(3 * minute);
    expect(completed(stage)).toMatchObject([finished]);
    expect(wishes.at(-1)).toMatchObject({ watched: [], welcome: [] });

    await move(stage, 'In Review');
    await stage.clock.advance(minute);
    room.has = false;
    await move(stage, 'Done');
    const closedAt = stage.clock.now();
    wishes.length = 0;
    await stage.clock.advance(awhile);
    expect(completed(stage)[0]?.at).toBeGreaterThanOrEqual(closedAt + 10 * minute);
    expect(completed(stage)[0]?.at).toBeLessThanOrEqual(closedAt + 12 * minute);
    expect(wishes.filter(({ watched }) => watched.length > 0)).toHaveLength(1);
  });

  it('fail one poll for an unreadable record, not all', async () => {
    const stage = await reviewed();
    const wishes: SnapshotRequest[] = [];
    snapshots(stage, wishes, { has: false }, ['1']);
    await stage.clock.advance(minute);
    await move(stage, 'Done');
    await stage.clock.advance(awhile);
    expect(wishes.filter(({ watched }) => watched.length > 0)).toHaveLength(1);
    expect(stage.orchestrator.read()).toMatchObject({ completed: [], errors: [] });
  });

  it('follow the latest fifty issues in unlisted states', async () => {
    const clock = new SimulatedClock();
    const issues = Array.from({ length: 60 }, (_, nth) => issue({ id: `${nth}` }));
    const stage = await withTicket({
      clock,
      tracker: trackerOf(clock, ...issues),
      isLocal: true,
      settings: settings({ intervalMs, tracker: { reviewStates: ['In Review'] }, agent: { maxConcurrentAgents: 60 } }),
    });
    for (const [nth, run] of stage.runs.entries()) {
      await move(stage, 'Backlog', run.request.issue.id);
      run.succeed();
      if (nth % 10 === 9) await clock.advance(2_000);
    }
    await clock.advance(awhile);
    const before = stage.calls.length;
    await clock.advance(minute);
    const asked = stage.calls.slice(before).filter(({ kind }) => kind === 'ids');
    expect(Math.max(...asked.map((call) => call.asked.length))).toBe(50);
  });
});

describe('two daemons on one store', () => {
  it('record one time for a finish that each sees at a different time', async () => {
    const one = await reviewed({ owner: 'one', isShared: true });
    const other = await besides(one, { settings: withReview });
    await one.clock.advance(7_000);
    await other.orchestrator.start();
    await one.clock.advance(awhile);
    await move(one, 'Done');
    await one.clock.advance(2 * minute);
    expect(completed(one)).toMatchObject([finished]);
    expect(completed(other)).toEqual(completed(one));
    expect(await stored(one)).toHaveLength(1);
    await move(one, 'In Review');
    await one.clock.advance(awhile);
    await move(one, 'Done');
    await one.clock.advance(2 * minute);
    expect(completed(one)[0]?.at).toBeGreaterThan(awhile);
    expect(completed(other)).toEqual(completed(one));
  });

  it('keep a time that people may have seen when the store fails one of them', async () => {
    let isBroken = true;
    const before = (call: string): void => {
      if (isBroken && call === 'finishedIssues.note') throw new BatonError('store_unavailable', 'down');
    };
    const one = await reviewed({ owner: 'one', isShared: true, through: (store) => storeThrough(store, { before }) });
    const other = await besides(one, { settings: withReview });
    await one.clock.advance(7_000);
    await other.orchestrator.start();
    await one.clock.advance(awhile);
    await move(one, 'Done');
    await one.clock.advance(2 * minute);
    const [seen] = completed(one);
    expect(seen).toMatchObject(finished);
    expect(completed(other)[0]?.at).not.toBe(seen?.at);
    isBroken = false;
    await one.clock.advance(2 * minute);
    expect(completed(one)).toEqual([seen]);
    expect((await stored(one)).map(({ at }) => at)).toEqual(completed(other).map(({ at }) => at));
  });

  for (const engine of engines.filter(({ name }) => name === 'postgres'))
    onEngine(engine, 'between them', ({ open, place }) => {
      it('record it once, with one time', async () => {
        const where = await place();
        const clock = new SimulatedClock();
        const tracker = trackerOf(clock, issue({ id: '1', url }));
        const fast = settings({ intervalMs: 100, tracker: { reviewStates: ['In Review'] } });
        const both = { clock, tracker, settings: fast, isShared: true };
        const stores = [await open(where), await open(where)] as const;
        const asked = stores.map(({ runs }) => vi.spyOn(runs, 'latestStarts'));
        const one = await scene({ ...both, store: stores[0], owner: 'one' });
        const other = await scene({ ...both, store: stores[1], owner: 'other' });
        const reached = (what: () => boolean) =>
          vi.waitFor(
            async () => {
              await clock.advance(50);
              expect(what()).toBe(true);
            },
            { timeout: 20_000, interval: 10 },
          );
        await Promise.all([one, other].map(({ orchestrator }) => orchestrator.start()));
        await reached(() => one.runs.length + other.runs.length === 1);
        const [run] = [...one.runs, ...other.runs];
        run?.request.report({ kind: 'moved', to: 'In Review' });
        await move(one, 'In Review');
        run?.succeed();
        const isFree = ({ orchestrator }: Scene): boolean => {
          const { running, retrying, reviews } = orchestrator.read();
          return running.length + retrying.length === 0 && reviews.length === 1;
        };
        await reached(() => isFree(one) && isFree(other));
        // The one that ran it knows; the other has been told by the store that it had a run.
        const idle = asked[one.runs.length === 0 ? 0 : 1];
        await reached(
          () => idle?.mock.settledResults.some(({ type, value }) => type === 'fulfilled' && value.size > 0) === true,
        );
        await reached(() => true);
        await move(one, 'Done');
        await reached(() => completed(one).length + completed(other).length === 2);
        expect(completed(one)).toMatchObject([finished]);
        expect(completed(other)).toEqual(completed(one));
        expect(await stored(one)).toHaveLength(1);
        const ends = [one, other].map(({ orchestrator }) => orchestrator.stop());
        let isOver = false;
        void Promise.all(ends).then(() => {
          isOver = true;
        });
        await reached(() => isOver);
      }, 60_000);
    });
});

/** From now on a poll is one request, with room for what is welcome or without; these records it cannot read. */
function snapshots(
  { tracker }: Scene,
  wishes: SnapshotRequest[],
  room: { readonly has: boolean; readonly passed?: Promise<void> },
  malformed: readonly string[] = [],
): void {
  const fetchSnapshot = async (wish: SnapshotRequest): Promise<Snapshot> => {
    wishes.push(wish);
    const all = new Map(tracker.all().map((each) => [each.id, each]));
    const states = new Set(wish.states.map(normalizeState));
    const ids = [...wish.watched, ...(room.has ? (wish.welcome ?? []) : [])];
    const unread = wish.watched.filter((id) => malformed.includes(id));
    // What it answers is what was so when it was asked.
    await room.passed;
    return {
      issues: [...all.values()].filter(({ state }) => states.has(normalizeState(state))),
      watched: new Map(ids.filter((id) => !unread.includes(id)).map((id) => [id, all.get(id) ?? null])),
      watchedProblem:
        unread.length === 0 ? null : new BatonError('tracker_response', 'malformed', { details: { ids: unread } }),
    };
  };
  Object.assign(tracker, { fetchSnapshot });
}
