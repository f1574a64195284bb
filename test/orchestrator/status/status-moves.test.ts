import { describe, expect, it } from 'vitest';
import { type Clock, sleep } from '../../../src/clock/clock.ts';
import type { TrackerSettings } from '../../../src/core/settings.ts';
import type { Board } from '../../../src/tracker/board/board.ts';
import { createBoard } from '../../../src/tracker/board/board.ts';
import { createBoardTracker } from '../../../src/tracker/board/board-tracker.ts';
import type { NewIssue } from '../../../src/tracker/board/issue-fields.ts';
import { boardProfile } from '../../../src/tracker/board/profile.ts';
import { MemoryTracker } from '../../../src/tracker/memory/memory-tracker.ts';
import type { Tracker } from '../../../src/tracker/tracker.ts';
import { issue } from '../../fake/issues.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { seededChance } from '../../fake/seeded-chance.ts';
import { type SettingChanges, settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { ada, aRun, theOrchestrator } from '../../tracker/board-scene.ts';
import { begun, type Scene } from '../scene.ts';

const boardSettings = (changes: SettingChanges = {}) =>
  settings({
    ...changes,
    tracker: {
      kind: 'board',
      activeStates: boardProfile.defaultActiveStates ?? [],
      terminalStates: boardProfile.defaultTerminalStates ?? [],
      reviewStates: ['review'],
      ...(boardProfile.roleStates === undefined ? {} : { states: boardProfile.roleStates }),
      ...changes.tracker,
    },
  });

/** The real board on the store of the orchestrator; a change of it wakes the orchestrator, as in a daemon. */
async function boardStage(
  changes: SettingChanges = {},
  around: (board: Tracker, clock: Clock) => Tracker = (board) => board,
) {
  const clock = new SimulatedClock();
  const store = await scratchStore(clock);
  let board: Board | undefined;
  let wake: (() => void) | undefined;
  const stage = await begun({
    clock,
    store,
    settings: boardSettings(changes),
    otherTracker: (parts) => {
      wake = parts.wake;
      const { project } = parts;
      board = createBoard({
        store,
        project,
        prefix: 'BAT',
        clock,
        chance: seededChance(1),
        onChange: () => wake?.(),
      });
      return around(createBoardTracker(board, store), clock);
    },
  });
  if (board === undefined) throw new Error('no board');
  const open = board;
  const add = async (draft: NewIssue, by: Parameters<Board['create']>[1] = ada) => (await open.create(draft, by)).issue;
  const statusOf = async (id: string) => (await open.details(id)).issue.status;
  const lastMove = async (id: string) =>
    (await open.details(id)).history.findLast(({ field }) => field === 'status' || field === 'created');
  return { ...stage, board: open, add, statusOf, lastMove };
}

describe('a blocked issue of the board', () => {
  // @conforms 4.67
  it('goes to todo as soon as its blockers are finished, and names those that were cancelled', async () => {
    const { add, board, clock, lastMove, started } = await boardStage({ agent: { maxConcurrentAgents: 1 } });
    const [one, other] = [
      await add({ title: 'one', status: 'review' }),
      await add({ title: 'other', status: 'review' }),
    ];
    const parent = await add({ title: 'parent', status: 'blocked', blockerIds: [one.id, other.id] });
    await clock.advance(0);
    await board.move(one.id, 'cancelled', ada);
    await clock.advance(0);
    expect(await lastMove(parent.id)).toMatchObject({ field: 'created' });
    await board.move(other.id, 'done', ada);
    await clock.advance(0);
    expect((await board.details(parent.id)).history.filter(({ field }) => field === 'status')).toMatchObject([
      {
        from: 'blocked',
        to: 'todo',
        author: { kind: 'orchestrator' },
        reason: expect.stringMatching(/BAT-1 \(cancelled\).*BAT-2 \(done\)/),
      },
      { from: 'todo', to: 'in_progress' },
    ]);
    expect(started()).toEqual([parent.id]);
  });

  it('waits for its children too', async () => {
    const { add, board, clock, statusOf } = await boardStage();
    const blocker = await add({ title: 'blocker', status: 'done' });
    const parent = await add({ title: 'parent', status: 'blocked', blockerIds: [blocker.id] });
    // Filed at once after it: the poll that the parent woke must not be faster.
    const child = await add({ title: 'child', status: 'review', parentId: parent.id });
    await clock.advance(0);
    expect(await statusOf(parent.id)).toBe('blocked');
    await board.move(child.id, 'done', ada);
    await clock.advance(0);
    expect(await statusOf(parent.id)).toBe('in_progress');
  });

  it('stays when it waits for nothing that Baton knows', async () => {
    const { add, clock, statusOf } = await boardStage();
    const lonely = await add({ title: 'waits for a key', status: 'blocked' });
    await clock.advance(60_000);
    expect(await statusOf(lonely.id)).toBe('blocked');
  });

  it('is not unblocked twice for the same finished issues, also after a restart', async () => {
    const { add, board, clock, statusOf, runs, orchestrator, store } = await boardStage();
    const blocker = await add({ title: 'blocker', status: 'done' });
    const parent = await add({ title: 'parent', status: 'blocked', blockerIds: [blocker.id] });
    await clock.advance(0);
    expect(await statusOf(parent.id)).toBe('in_progress');
    const blockAgain = async () => {
      await board.move(parent.id, 'blocked', aRun);
      runs.at(-1)?.succeed();
      await clock.advance(120_000);
    };
    await blockAgain();
    expect(await statusOf(parent.id)).toBe('blocked');
    expect(runs).toHaveLength(1);
    await board.block(parent.id, (await add({ title: 'another', status: 'done' })).id, ada);
    await clock.advance(10_000);
    expect(await statusOf(parent.id)).toBe('in_progress');
    await blockAgain();
    expect(await statusOf(parent.id)).toBe('blocked');
    await orchestrator.stop();
    const counters = await store.counters.read({ project: board.project, issueId: parent.id });
    expect(counters.unblocked_for).toBeGreaterThan(0);
  });
});

it('ends the run of an issue that a person moves to review, and starts it again from todo', async () => {
  const { add, board, clock, runs, orchestrator, started } = await boardStage();
  const mine = await add({ title: 'good enough' });
  await clock.advance(0);
  await board.move(mine.id, 'review', ada);
  await clock.advance(0);
  expect(runs[0]?.stops).toEqual(['inactive_state']);
  runs[0]?.end();
  await clock.advance(60_000);
  expect(orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
  expect(started()).toHaveLength(1);
  await board.move(mine.id, 'todo', { ...ada, reason: 'not yet' });
  await clock.advance(0);
  expect(started()).toHaveLength(2);
});

describe('promotion from the backlog', () => {
  const on = { board: { autoPromote: true }, agent: { maxConcurrentAgents: 2 } };

  // @conforms 4.61
  it('happens one at a time, by priority, while slots are free and there is no other work', async () => {
    const { add, clock, statusOf, lastMove, started, runs, command } = await boardStage(on);
    await command('pause');
    const low = await add({ title: 'low', status: 'backlog', priority: 4 });
    const high = await add({ title: 'high', status: 'backlog', priority: 1 });
    const last = await add({ title: 'last', status: 'backlog' });
    await clock.advance(60_000);
    expect(await statusOf(high.id)).toBe('backlog');
    await command('resume');
    await clock.advance(60_000);
    expect(started()).toEqual([high.id, low.id]);
    expect(await statusOf(last.id)).toBe('backlog');
    expect(await lastMove(low.id)).toMatchObject({ author: { kind: 'orchestrator' } });
    const todo = await add({ title: 'wanted now', status: 'todo' });
    runs[0]?.fail();
    await clock.advance(0);
    expect(started().at(-1)).toBe(todo.id);
    expect(await statusOf(last.id)).toBe('backlog');
  });

  it('goes on after a tracker that did not answer once', async () => {
    let asked = 0;
    const { add, clock, statusOf } = await boardStage(on, (board, clock) => ({
      ...board,
      fetchPromotable: async (page, ask) => {
        asked += 1;
        if (asked === 1) await sleep(clock, Number.MAX_SAFE_INTEGER, ask?.signal);
        return (await board.fetchPromotable?.(page, ask)) ?? [];
      },
    }));
    const waiting = await add({ title: 'waiting', status: 'backlog' });
    await clock.advance(60_000);
    expect([asked, await statusOf(waiting.id)]).toEqual([1, 'backlog']);
    await clock.advance(180_000);
    expect(await statusOf(waiting.id)).not.toBe('backlog');
  });

  // @conforms 4.136
  it('never takes what a person moved there, what is blocked, what lacks a label, or what a scan proposed', async () => {
    const { add, board, clock, statusOf, started } = await boardStage({
      ...on,
      tracker: { requiredLabels: ['agent'] },
    });
    const labels = ['agent'];
    const parked = await add({ title: 'parked', status: 'cancelled', priority: 1, labels });
    await board.move(parked.id, 'backlog', ada);
    const open = await add({ title: 'open', status: 'review' });
    const blocked = await add({ title: 'blocked', status: 'backlog', priority: 1, labels, blockerIds: [open.id] });
    const unlabelled = await add({ title: 'unlabelled', status: 'backlog', priority: 1 });
    const scanned = await add({ title: 'scanned', status: 'backlog', priority: 1, labels: [...labels, 'Proposed'] });
    const free = await add({ title: 'free', status: 'backlog', labels }, theOrchestrator);
    await clock.advance(60_000);
    expect(started()).toEqual([free.id]);
    for (const { id } of [parked, blocked, unlabelled, scanned]) expect(await statusOf(id)).toBe('backlog');
  });

  it('does not happen unless the file asks for it', async () => {
    const { add, clock, started } = await boardStage();
    await add({ title: 'some day', status: 'backlog' });
    await clock.advance(3_600_000);
    expect(started()).toEqual([]);
  });
});

describe('a tracker that people use by other means', () => {
  const states: TrackerSettings['states'] = {
    todo: 'Todo',
    inProgress: null,
    review: null,
    blocked: 'Blocked',
    done: 'Done',
  };
  const blockedBy = (state: string) => [{ id: 'b', identifier: 'T-b', state }];

  async function elsewhere(changes: Partial<TrackerSettings> = {}): Promise<Scene> {
    const clock = new SimulatedClock();
    const tracker = new MemoryTracker({
      clock,
      states: ['Todo', 'In Progress', 'Blocked', 'Done'],
      issues: [
        issue({ id: 'b', state: 'Blocked' }),
        issue({ id: 'ours', labels: ['agent'] }),
        issue({ id: 'theirs', state: 'Blocked', blockedBy: blockedBy('Blocked'), labels: ['agent'] }),
      ],
    });
    const tracked = { states, requiredLabels: ['agent'], ...changes };
    return begun({ clock, tracker, settings: settings({ tracker: tracked, intervalMs: 1_000 }) });
  }

  /** The agent of the issue blocks it and ends. */
  async function blockOurs({ tracker, runs, clock }: Scene): Promise<void> {
    const [ours] = await tracker.fetchByIds(['ours']);
    if (ours !== undefined) tracker.put({ ...ours, state: 'Blocked', blockedBy: blockedBy('Blocked') });
    runs[0]?.succeed();
    await clock.advance(90_000);
  }

  const stateOf = async ({ tracker }: Scene, id: string) => (await tracker.fetchByIds([id]))[0]?.state;

  it('keeps every issue that Baton had no run of', async () => {
    const stage = await elsewhere();
    await blockOurs(stage);
    expect(await stateOf(stage, 'ours')).toBe('Blocked');
    await stage.tracker.changes.moveIssue('b', 'Done', ada.author);
    await stage.clock.advance(90_000);
    expect(await stateOf(stage, 'ours')).toBe('Todo');
    expect(await stateOf(stage, 'theirs')).toBe('Blocked');
    expect(stage.logger.events().filter((event) => event === 'issue_unblocked')).toHaveLength(1);
    expect(stage.tracker.commentsOn('ours')).toEqual([]);
  });

  it('gets a comment that names what is finished, where comments are on', async () => {
    const stage = await elsewhere({ comments: true });
    await blockOurs(stage);
    await stage.tracker.changes.moveIssue('b', 'Done', ada.author);
    await stage.clock.advance(90_000);
    expect(stage.tracker.commentsOn('ours')).toMatchObject([
      { author: { kind: 'orchestrator' }, body: expect.stringContaining('T-b (Done)') },
    ]);
  });

  it('keeps an issue that lost its label, and everything where the file does not name the states', async () => {
    for (const changes of [{}, { states: { ...states, blocked: null } }, { states: { ...states, todo: null } }]) {
      const stage = await elsewhere(changes);
      await blockOurs(stage);
      const [ours] = await stage.tracker.fetchByIds(['ours']);
      if (ours !== undefined && changes.states === undefined) stage.tracker.put({ ...ours, labels: [] });
      await stage.tracker.changes.moveIssue('b', 'Done', ada.author);
      await stage.clock.advance(600_000);
      expect(await stateOf(stage, 'ours')).toBe('Blocked');
    }
  });
});
