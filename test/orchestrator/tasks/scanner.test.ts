import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { issuesIn } from '../../../src/core/task/proposal.ts';
import { createBoard } from '../../../src/tracker/board/board.ts';
import { createBoardTracker } from '../../../src/tracker/board/board-tracker.ts';
import { issue } from '../../fake/issues.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { seededChance } from '../../fake/seeded-chance.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { ada } from '../../tracker/board-scene.ts';
import { begun, type StagedRun, spend } from '../scene.ts';
import { boardScene, day, hour, minute, pass, played, proposes, scanning, scansOf, tries } from './scan-scene.ts';

describe('a day with nothing to do', () => {
  // @conforms 4.111, 4.136
  it('costs one scan, whatever its agent proposes, and files nothing', async () => {
    const stage = await boardScene(played);
    await pass(stage, day - hour);
    expect(stage.runs.map(({ request }) => request.role)).toEqual(['scanner']);
    expect(tries.at(-1)).toEqual({ most: 5 });
    expect(await scansOf(stage)).toMatchObject([{ status: 'proposed', author: { kind: 'orchestrator' } }]);
    expect(issuesIn((await scansOf(stage))[0]?.proposal ?? null)).toHaveLength(5);
    expect(await stage.board.list({ statuses: [], labels: [], limit: 10 })).toEqual([]);
    // Nothing more while a person has not decided.
    await pass(stage, day);
    expect(stage.runs).toHaveLength(1);
  });

  it('costs nothing unless it is asked for, without a budget, and with a full backlog', async () => {
    for (const options of [
      { settings: scanning({ enabled: false }) },
      { settings: scanning({ runsPerDay: 0 }) },
      { backlog: 10 },
    ]) {
      const stage = await boardScene({ ...played, ...options });
      await pass(stage, day);
      expect([stage.runs, await scansOf(stage)]).toEqual([[], []]);
    }
    const room = await boardScene({ ...played, backlog: 9 });
    await pass(room, hour);
    expect(room.runs).toHaveLength(1);
  });

  it('stays within the budget of runs when every scan fails at once and the pause is a moment', async () => {
    const stage = await boardScene({ settings: scanning({ cooldownMs: 1, runsPerDay: 3 }), play: (run) => run.fail() });
    await pass(stage, day - hour);
    expect(stage.runs).toHaveLength(3);
  });

  it('stops after a run without a known price where the budget is money', async () => {
    const play = (run: StagedRun): void => {
      spend(run, 500);
      run.fail();
    };
    const stage = await boardScene({ settings: scanning({ cooldownMs: 1, runsPerDay: 0, usdPerDay: 5 }), play });
    await pass(stage, day - hour);
    expect(stage.runs).toHaveLength(1);
  });

  it('has no scan while the tracker cannot be read, and with a tracker whose backlog cannot be counted', async () => {
    const elsewhere = { ...scanning(), tracker: settings().tracker };
    const stage = await begun({ issues: [issue({ id: '1', state: 'Backlog' })], settings: elsewhere, ...played });
    await pass(stage, day);
    expect([stage.runs, await scansOf(stage)]).toEqual([[], []]);
    const clock = new SimulatedClock();
    const store = await scratchStore(clock);
    const down = await begun({
      ...{ clock, store, settings: scanning(), ...played },
      otherTracker: ({ project, wake }) => {
        const parts = { store, project, prefix: 'BAT', clock, chance: seededChance(1), onChange: wake };
        const tracker = createBoardTracker(createBoard(parts), store);
        return { ...tracker, fetchByStates: () => Promise.reject(new BatonError('tracker_request', 'down')) };
      },
    });
    await pass(down, day);
    expect([down.runs, await scansOf(down)]).toEqual([[], []]);
  });
});

describe('a scan', () => {
  // @conforms 4.136
  it('is filed in the backlog with a label after a yes, and only a person promotes it', async () => {
    const stage = await boardScene(played);
    await pass(stage, hour);
    const [task] = await scansOf(stage);
    const answer = await stage.command('task_accept', { task: task?.id, numbers: [1, 2] });
    expect(answer).toMatchObject({ code: 'proposals_accepted', data: { filed: ['BAT-1', 'BAT-2'] } });
    await stage.command('task_refuse', { task: task?.id });
    await pass(stage, 12 * hour);
    const filed = await stage.board.list({ statuses: [], labels: [], limit: 10 });
    expect(filed.map(({ status, labels }) => [status, labels])).toEqual([
      ['backlog', ['proposed']],
      ['backlog', ['proposed']],
    ]);
    const ids = filed.map(({ id }) => id);
    expect(await stage.store.runTexts.among(stage.project, 'issue', ids)).toEqual(new Set(ids));
    expect(stage.runs).toHaveLength(1);
    await stage.board.move(filed[0]?.id ?? '', 'todo', ada);
    await stage.clock.advance(minute);
    expect(stage.runs.map(({ request }) => request.role)).toEqual(['scanner', 'worker']);
  });

  it('is filed without the labels by which its agent would tell Baton what to do', async () => {
    const usual = scanning();
    const stage = await boardScene({
      settings: { ...usual, review: { ...usual.review, autoMerge: ['Small'] } },
      play: (run) => void proposes(run, ['small', 'agent:free', 'tidy']),
    });
    await pass(stage, hour);
    const [task] = await scansOf(stage);
    await stage.command('task_accept', { task: task?.id, numbers: [1] });
    const [filed] = await stage.board.list({ statuses: [], labels: [], limit: 10 });
    expect(filed?.labels.toSorted()).toEqual(['proposed', 'tidy']);
  });

  it('comes after a pause that doubles while nothing is accepted, and is the first one again afterwards', async () => {
    const stage = await boardScene(played);
    const begins: number[] = [];
    for (const decision of ['refuse', 'refuse', 'accept', 'refuse'] as const) {
      const before = stage.runs.length;
      while (stage.runs.length === before) await pass(stage, 10 * minute);
      begins.push(stage.clock.now());
      const [task] = await scansOf(stage);
      await stage.command(`task_${decision}`, { task: task?.id });
    }
    const pauses = begins.slice(1).map((at, index) => Math.round((at - (begins[index] ?? 0)) / hour));
    expect(pauses).toEqual([48, 96, 24]);
  });

  it('does not begin while an issue is to be done', async () => {
    const stage = await boardScene({ play: () => {} });
    const { id } = (await stage.board.create({ title: 'Todo', status: 'todo' }, ada)).issue;
    await stage.clock.advance(5 * minute);
    expect(stage.runs.map(({ request }) => request.role)).toEqual(['worker']);
    await stage.board.move(id, 'done', ada);
    await stage.clock.advance(minute);
    stage.runs[0]?.end();
    await stage.clock.advance(5 * minute);
    expect(stage.runs.map(({ request }) => request.role)).toEqual(['worker', 'scanner']);
  });

  it('is begun by a person within the budget, once, and not while another one is open', async () => {
    const stage = await boardScene({ backlog: 12 });
    const first = await stage.command('scan_begin');
    expect(first).toMatchObject({ status: 'done', code: 'task_waits' });
    expect(await stage.command('scan_begin')).toMatchObject({ code: 'task_waits', data: first?.data });
    await stage.clock.advance(minute);
    expect(stage.runs).toHaveLength(1);
    await proposes(stage.runs[0] as StagedRun);
    await stage.clock.advance(minute);
    expect(await stage.command('scan_begin')).toMatchObject({ code: 'task_undecided' });
    await stage.command('task_refuse', { task: first?.data.task });
    expect(await stage.command('scan_begin')).toMatchObject({ status: 'refused', code: 'role_budget_used' });
    stage.file.settings = scanning({ runsPerDay: 0 });
    expect(await stage.command('scan_begin')).toMatchObject({ code: 'role_off' });
    stage.file.settings = scanning({ enabled: false });
    expect(await stage.command('scan_begin')).toMatchObject({ code: 'role_off' });
    expect(await scansOf(stage)).toHaveLength(1);
  });
});

describe('two daemons on one store', () => {
  // @conforms 4.111
  it('begin one scan together, and the other one goes on when the first is killed', async () => {
    const quick = scanning({ runsPerDay: 10, cooldownMs: 5 * minute });
    const one = await boardScene({ ...played, settings: quick, owner: 'one', isShared: true });
    const { store, clock } = one;
    const other = await boardScene({ ...played, settings: quick, owner: 'other', isShared: true, store, clock });
    await clock.advance(5 * minute);
    expect([one.runs.length + other.runs.length, (await scansOf(one)).length]).toEqual([1, 1]);
    one.kill();
    await other.command('task_refuse', { task: (await scansOf(other))[0]?.id });
    const before = other.runs.length;
    await clock.advance(15 * minute);
    expect([other.runs.length - before, (await scansOf(other)).length]).toEqual([1, 2]);
  });
});
