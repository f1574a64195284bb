import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Settings } from '../../src/core/settings.ts';
import { timeToSecond } from '../../src/core/text/time-text.ts';
import type { FilePruning } from '../../src/orchestrator/jobs/pruning.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { telling } from '../telling.ts';
import { gate, pair, type Scene, type SceneOptions, scene } from './scene.ts';

const person = { kind: 'person', name: 'me' } as const;
const author = { kind: 'person', name: 'Ada' } as const;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const removedInfo = 'workspace_removed';
const nothingGone = 'workspace_sweep_stuck';

/** Looks once a minute, so that a sweep comes within the minute it is due. */
function swept(workspace: Partial<Settings['workspace']> = {}): Settings {
  return settings({ intervalMs: minuteMs, workspace });
}

interface Past {
  readonly id: string;
  /** How long ago its last run ended; null: it has not. */
  readonly endedAgoMs?: number | null;
  readonly identifier?: string;
}

/** A workspace with a run in the past, of an issue that the tracker has in a state of its own. */
async function givenWorkspace(stage: Scene, { id, endedAgoMs = 0, identifier = `T-${id}` }: Past): Promise<void> {
  const { store, project, clock } = stage;
  const runId = `past-${id}`;
  const path = `/workspaces/${identifier}`;
  const startedAt = clock.now() - (endedAgoMs ?? 0) - 1_000;
  await store.runs.start({
    runId,
    project,
    issueId: id,
    identifier,
    generation: 1,
    role: 'worker',
    attempt: null,
    retryKind: null,
    backend: 'x',
    account: null,
    host: 'here',
    startedAt,
  });
  await store.runs.record(runId, 1, { workspace: path });
  if (endedAgoMs !== null)
    await store.runs.finish(runId, 1, {
      endedAt: clock.now() - endedAgoMs,
      outcome: 'succeeded',
      errorCode: null,
      errorMessage: null,
    });
  stage.workspaces.entries.push({ key: identifier, path, state: 'whole', bytes: null, changedAt: 0 });
}

/** A daemon that has started; what a test moves afterwards is cleaned by nothing but a sweep. */
async function started(options: SceneOptions, ...past: Past[]): Promise<Scene> {
  const stage = await scene({ settings: swept(), ...options });
  for (const each of past) await givenWorkspace(stage, each);
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  return stage;
}

const inReview = (...ids: string[]) => ids.map((id) => issue({ id, state: 'Backlog' }));

async function finish(stage: Scene, ...ids: string[]): Promise<void> {
  for (const id of ids) await stage.tracker.changes.moveIssue(id, 'Done', person);
}

const paths = (...ids: string[]): string[] => ids.map((id) => `/workspaces/T-${id}`);

describe('a sweep of the workspaces', () => {
  // @conforms F083, 4.127b
  it('removes all three due workspaces, not only the first, of issues that finished while free', async () => {
    const stage = await started(
      { issues: inReview('1', '2', '3', '4') },
      { id: '1' },
      { id: '2' },
      { id: '3' },
      { id: '4' },
    );
    await stage.clock.advance(20 * minuteMs);
    expect(stage.workspaces.removed).toEqual([]);
    await finish(stage, '1', '2', '3');
    await stage.clock.advance(11 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1', '2', '3'));
    const told = stage.logger.lines.filter(({ event }) => event === 'workspaces_swept');
    expect(told.map(({ fields }) => fields)).toEqual([{ found: 4, due: 3, removed: 3 }]);
  });

  it('runs at once after a change by a person, and once for two changes', async () => {
    const stage = await started({ issues: inReview('1', '2'), isLocal: true }, { id: '1' }, { id: '2' });
    await stage.clock.advance(5_000);
    await finish(stage, '1');
    stage.orchestrator.wake();
    await stage.clock.advance(10);
    expect(stage.workspaces.removed).toEqual(paths('1'));
    await finish(stage, '2');
    stage.orchestrator.wake();
    await stage.clock.advance(10);
    expect(stage.workspaces.removed).toEqual(paths('1'));
    await stage.clock.advance(minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1', '2'));
  });

  it('is not needed for a held issue that a person closes: its workspace is removed with the hold', async () => {
    const stage = await started({ issues: inReview('1') }, { id: '1' });
    await stage.command('issue_hold', { issue: '1' });
    await stage.clock.advance(minuteMs);
    await finish(stage, '1');
    await stage.clock.advance(minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
    expect(stage.orchestrator.read()).toMatchObject({ held: [], completed: [{ issue: { id: '1' } }] });
  });

  it('asks the tracker once, only for free issues with a directory, and otherwise not at all', async () => {
    const stage = await started(
      { issues: inReview('1', '2', 'p', 'h', 'other') },
      { id: '1' },
      { id: '2' },
      { id: 'p' },
      { id: 'h' },
    );
    await stage.store.pins.put({ project: stage.project, issueId: 'p', identifier: 'T-p', since: 0, author });
    await stage.command('issue_hold', { issue: 'h' });
    // A command has a sweep of its own behind it.
    await stage.clock.advance(minuteMs);
    const asked = () => stage.calls.filter(({ kind, asked: ids }) => kind === 'ids' && ids.some((id) => id !== 'h'));
    const before = asked().length;
    await stage.clock.advance(11 * minuteMs);
    expect(
      asked()
        .slice(before)
        .map((call) => call.asked.toSorted()),
    ).toEqual([['1', '2']]);
    stage.workspaces.entries.length = 0;
    const then = asked().length;
    await stage.clock.advance(30 * minuteMs);
    expect(asked()).toHaveLength(then);
  });

  // @conforms F080
  it('keeps a workspace with a live agent although its issue is finished, and removes it after the run', async () => {
    const stage = await started({ issues: [issue({ id: '1' })] });
    const [run] = stage.runs;
    run?.request.report({ kind: 'workspace', path: '/workspaces/T-1' });
    stage.workspaces.entries.push({ key: 'T-1', path: '/workspaces/T-1', state: 'whole', bytes: null, changedAt: 0 });
    await finish(stage, '1');
    await stage.clock.advance(40 * minuteMs);
    expect(run?.stops).toEqual(['terminal_state']);
    expect(stage.workspaces.removed).toEqual([]);
    run?.end();
    await stage.clock.advance(minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
  });

  // @conforms F080
  it('keeps a workspace whose run has no end in the store, whichever daemon began it', async () => {
    const [one] = await pair({ issues: inReview('1'), settings: swept() });
    const key = { project: one.project, issueId: '1' };
    const lease = { owner: 'elsewhere', host: 'there', at: one.clock.now(), leaseMs: dayMs, slotState: 'Done' };
    await one.store.claims.take(key, lease);
    await givenWorkspace(one, { id: '1', endedAgoMs: null });
    await one.orchestrator.start();
    await finish(one, '1');
    await one.clock.advance(hourMs);
    expect(one.workspaces.removed).toEqual([]);
    // Its end is written, and it is still the other's.
    const end = { outcome: 'succeeded', errorCode: null, errorMessage: null } as const;
    await one.store.runs.finish('past-1', 1, { endedAt: one.clock.now(), ...end });
    await one.clock.advance(hourMs);
    expect(one.workspaces.removed).toEqual([]);
    await one.store.claims.release(key, { owner: 'elsewhere', generation: 1 });
    await one.clock.advance(11 * minuteMs);
    expect(one.workspaces.removed).toEqual(paths('1'));
  });

  // @conforms F080
  it('keeps a workspace that was reopened during the sweep, and no run starts in one that is being removed', async () => {
    const stage = await started({ issues: inReview('1', '2') }, { id: '1' }, { id: '2' });
    const slow = gate();
    stage.workspaces.answers.wait = slow.passed;
    await finish(stage, '1', '2');
    await stage.clock.advance(11 * minuteMs);
    await stage.tracker.changes.moveIssue('1', 'Todo', person);
    await stage.tracker.changes.moveIssue('2', 'Todo', person);
    await stage.clock.advance(2 * minuteMs);
    // The first is being removed; the second is open and has its agent.
    expect(stage.started()).toEqual(['2']);
    slow.open();
    await stage.clock.advance(minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
    expect(stage.started()).toEqual(['2', '1']);
  });

  // @conforms F081
  it('keeps a workspace for the retention of its state, counted from the end of its last run', async () => {
    const workspace = { retentionMs: hourMs, retentionMsByState: { cancelled: 3 * hourMs } };
    const tracker = settings().tracker;
    const stage = await started(
      {
        issues: [issue({ id: '1', state: 'Done' }), issue({ id: '2', state: 'Cancelled' })],
        settings: { ...swept(workspace), tracker },
      },
      { id: '1', endedAgoMs: 30 * minuteMs },
      { id: '2', endedAgoMs: 30 * minuteMs },
    );
    await stage.clock.advance(29 * minuteMs);
    expect(stage.workspaces.removed).toEqual([]);
    await stage.clock.advance(12 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
    await stage.clock.advance(105 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
    await stage.clock.advance(20 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1', '2'));
  });

  // @conforms F081
  it('keeps the workspace for its retention after a run that ends with its issue', async () => {
    const stage = await started({ issues: [issue({ id: '1' })], settings: swept({ retentionMs: hourMs }) });
    stage.runs[0]?.request.report({ kind: 'workspace', path: '/workspaces/T-1' });
    stage.workspaces.entries.push({ key: 'T-1', path: '/workspaces/T-1', state: 'whole', bytes: null, changedAt: 0 });
    await finish(stage, '1');
    await stage.clock.advance(2 * minuteMs);
    stage.runs[0]?.end();
    await stage.clock.advance(50 * minuteMs);
    expect(stage.workspaces.removed).toEqual([]);
    await stage.clock.advance(30 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
  });

  it('counts from the last change of the directory when no run is known', async () => {
    const stage = await scene({
      issues: [issue({ id: '1', state: 'Done' }), issue({ id: '2', state: 'Done' })],
      settings: swept({ retentionMs: hourMs }),
    });
    for (const [key, age] of [
      ['T-1', 2 * hourMs],
      ['T-2', minuteMs],
    ] as const) {
      const changedAt = stage.clock.now() - age;
      stage.workspaces.entries.push({ key, path: `/workspaces/${key}`, state: 'whole', bytes: null, changedAt });
    }
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(stage.workspaces.removed).toEqual(paths('1'));
  });

  // @conforms F081
  it('never removes a pinned workspace, at a start, after a run or in a sweep, until it is unpinned', async () => {
    const stage = await scene({ issues: [issue({ id: '1', state: 'Done' }), issue({ id: '2' })], settings: swept() });
    await givenWorkspace(stage, { id: '1', endedAgoMs: dayMs });
    for (const id of ['1', '2'])
      await stage.store.pins.put({ project: stage.project, issueId: id, identifier: `T-${id}`, since: 0, author });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.runs[0]?.request.report({ kind: 'workspace', path: '/workspaces/T-2' });
    await finish(stage, '2');
    await stage.clock.advance(minuteMs);
    stage.runs[0]?.end();
    await stage.clock.advance(hourMs);
    expect(stage.workspaces.removed).toEqual([]);
    expect(stage.logger.events()).not.toContain(nothingGone);
    await stage.store.pins.remove({ project: stage.project, issueId: '1' });
    await stage.clock.advance(11 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
  });

  // @conforms F082
  it('warns each time when due workspaces could not be removed', async () => {
    const stage = await started({ issues: inReview('1', '2') }, { id: '1', endedAgoMs: dayMs }, { id: '2' });
    stage.workspaces.answers.removal = { outcome: 'kept', code: 'failed', reason: 'the disk is full' };
    await finish(stage, '1', '2');
    await stage.clock.advance(22 * minuteMs);
    const told = stage.logger.lines.filter(({ event }) => event === nothingGone);
    expect(told).toHaveLength(2);
    expect(told[0]).toMatchObject({
      level: 'warn',
      fields: { found: 2, due: 2, removed: 0, workspaces: paths('1', '2'), oldest_since: '2025-12-31T00:00:00.000Z' },
    });
    expect((await stage.store.runs.read('past-1'))?.removal).toMatchObject({
      keptBecause: 'the disk is full',
      saved: [],
    });
  });

  // @conforms F082
  it('warns when the workspaces or the issues cannot be read, and continues the next time', async () => {
    const stage = await started({ issues: inReview('1') }, { id: '1' });
    await finish(stage, '1');
    const { list } = stage.workspaces.as;
    Object.assign(stage.workspaces.as, { list: () => Promise.reject(new Error('EIO')) });
    await stage.clock.advance(11 * minuteMs);
    const failed = () => stage.logger.lines.filter(({ event }) => event === 'workspaces_unreadable');
    expect(failed()).toMatchObject([{ level: 'warn', fields: { error: { message: 'EIO' } } }]);
    Object.assign(stage.workspaces.as, { list });
    const { fetchByIds } = stage.tracker;
    stage.tracker.fetchByIds = async () => {
      throw new BatonError('tracker_status', 'HTTP 502');
    };
    await stage.clock.advance(11 * minuteMs);
    expect(failed()).toHaveLength(2);
    stage.tracker.fetchByIds = fetchByIds;
    await stage.clock.advance(11 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
  });

  // @conforms F083
  it('continues with the others when one cannot be removed', async () => {
    const stage = await started({ issues: inReview('1', '2', '3') }, { id: '1' }, { id: '2' }, { id: '3' });
    stage.workspaces.answers.removals.set('/workspaces/T-1', new Error('it broke'));
    stage.workspaces.answers.removals.set('/workspaces/T-2', {
      outcome: 'kept',
      code: 'other_owner',
      reason: 'it is not ours',
    });
    await finish(stage, '1', '2', '3');
    await stage.clock.advance(11 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1', '2', '3'));
    expect(stage.workspaces.entries.map(({ key }) => key)).toEqual(['T-1', 'T-2']);
    expect((await stage.store.runs.read('past-1'))?.removal).toMatchObject({ keptBecause: 'it broke' });
  });

  it('keeps half-made, half-removed and unknown workspaces, and those of issues that the tracker lacks', async () => {
    const stage = await started({ issues: inReview('1', '2') }, { id: '1' }, { id: '2' }, { id: 'gone' });
    await finish(stage, '1', '2');
    const states = ['making', 'removing', 'whole'] as const;
    stage.workspaces.entries.splice(
      0,
      3,
      ...stage.workspaces.entries.map((entry, at) => ({ ...entry, state: states[at] ?? 'whole' })),
    );
    stage.workspaces.entries.push({ key: 'x', path: '/workspaces/x', state: 'whole', bytes: null, changedAt: 0 });
    await stage.clock.advance(hourMs);
    expect(stage.workspaces.removed).toEqual([]);
  });

  it('removes by the original name, although the issue has another one now', async () => {
    const stage = await started(
      { issues: [issue({ id: '1', identifier: 'NEW-1', state: 'Backlog' })] },
      { id: '1', identifier: 'OLD-1' },
    );
    const places: unknown[] = [];
    const { remove } = stage.workspaces.as;
    Object.assign(stage.workspaces.as, {
      remove: (...parts: Parameters<typeof remove>) => {
        places.push(parts[0]);
        return remove(...parts);
      },
    });
    await finish(stage, '1');
    await stage.clock.advance(11 * minuteMs);
    expect(places).toEqual([{ path: '/workspaces/OLD-1', identifier: 'OLD-1' }]);
  });

  it('runs every ten minutes, one at a time, and a stop does not wait for a new one', async () => {
    const stage = await started({ issues: inReview('1') });
    let lists = 0;
    const { list } = stage.workspaces.as;
    const slow = gate();
    Object.assign(stage.workspaces.as, {
      list: async (root: string) => {
        lists += 1;
        await slow.passed;
        return list(root);
      },
    });
    await stage.clock.advance(hourMs);
    expect(lists).toBe(1);
    slow.open();
    await stage.clock.advance(hourMs);
    expect(lists).toBe(7);
    await stage.orchestrator.stop();
    expect(stage.clock.pending).toBe(0);
  });
});

describe('work that was saved before a removal', () => {
  const saved = [{ name: 'T-1/past-1', files: 3, commits: 2, restore: 'baton salvage restore T-1/past-1' }];

  it('is named in the log with the restore command, and recorded with the last run', async () => {
    const stage = await started({ issues: inReview('1') }, { id: '1' });
    stage.workspaces.answers.removal = { outcome: 'removed', saved };
    await finish(stage, '1');
    await stage.clock.advance(11 * minuteMs);
    const told = stage.logger.lines.filter(({ event }) => event === 'workspace_removed_and_saved');
    expect(told).toMatchObject([
      {
        level: 'info',
        fields: { issue_identifier: 'T-1', saved: ['T-1/past-1'], restore: ['baton salvage restore T-1/past-1'] },
      },
    ]);
    expect((await stage.store.runs.read('past-1'))?.removal).toMatchObject({ keptBecause: null, saved });
  });

  it('is recorded with the last run also at a start, which knows only the issue', async () => {
    const stage = await scene({ issues: [issue({ id: '1', state: 'Done' })], settings: swept() });
    await givenWorkspace(stage, { id: '1' });
    stage.workspaces.answers.removal = { outcome: 'removed', saved };
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect((await stage.store.runs.read('past-1'))?.removal).toMatchObject({ keptBecause: null, saved });
  });

  it('is removed or kept whether that can be recorded or not', async () => {
    const stage = await started({ issues: inReview('1') }, { id: '1' });
    stage.store.runs.noteRemoval = () => Promise.reject(new BatonError('store_full', 'no space left'));
    await finish(stage, '1');
    await stage.clock.advance(11 * minuteMs);
    expect(stage.workspaces.removed).toEqual(paths('1'));
    expect(stage.logger.events()).toContain('workspace_write_failed');
    expect(stage.logger.events()).toContain(removedInfo);
  });

  it('is pruned by its job, also after a failure', async () => {
    const asked: number[] = [];
    const savedWork: FilePruning['savedWork'] = async ({ workspace }) => {
      asked.push(workspace.salvageRetentionDays);
      if (asked.length === 2) throw new Error('no');
      return { count: 3, bytes: 9 };
    };
    const hourly = (salvageRetentionDays: number) =>
      settings({ workspace: { salvageRetentionDays }, polling: { jobIntervalsMs: { pruning: hourMs } } });
    const stage = await started({ settings: hourly(7), files: { savedWork } });
    await stage.clock.advance(3 * hourMs + minuteMs);
    expect(asked).toEqual([7, 7, 7]);
    const told = stage.logger.lines.filter(({ event, fields }) => fields.job === 'pruning' || event === 'pruned');
    expect(told.map(({ level }) => level)).toEqual(['info', 'warn', 'info']);
  });
});

describe('the command to prune workspaces', () => {
  const wish = (issues: unknown, more = {}) => ({ issues, host: 'here', ...more });

  it('removes the named ones, also before their retention on request, and answers for each', async () => {
    const issues = [...inReview('2'), ...['1', '3', '4'].map((id) => issue({ id, state: 'Done' }))];
    const stage = await started(
      { issues, settings: swept({ retentionMs: dayMs }) },
      { id: '1' },
      { id: '2' },
      { id: '3' },
      { id: '4' },
    );
    expect(await stage.command('workspaces_prune', wish(['1', '2']))).toMatchObject({
      status: 'done',
      code: 'workspaces_being_removed',
      data: { workspaces: 2 },
    });
    await stage.clock.advance(0);
    expect(stage.workspaces.removed).toEqual([]);
    const fate = async (id: string) => (await stage.store.runs.read(`past-${id}`))?.removal?.keptBecause;
    expect([await fate('1'), await fate('2'), await fate('4')]).toEqual([
      telling(timeToSecond(stage.clock.now() + dayMs)),
      telling('Backlog'),
      undefined,
    ]);
    await stage.command('workspaces_prune', wish(['1', '2', '3'], { ignores_retention: true }));
    await stage.clock.advance(0);
    expect(stage.workspaces.removed).toEqual(paths('1', '3'));
    expect([await fate('1'), await fate('2'), await fate('3'), await fate('4')]).toEqual([
      null,
      telling('Backlog'),
      null,
      undefined,
    ]);
  });

  it.each([[undefined], ['1'], [[1]], [null]])('is refused when it names %j', async (issues) => {
    const stage = await started({ issues: inReview('1') }, { id: '1' });
    expect(await stage.command('workspaces_prune', wish(issues))).toMatchObject({
      status: 'refused',
      code: 'no_issue_named',
    });
  });

  it('waits for the daemon of the machine with the workspaces, and delays no other command', async () => {
    const stage = await started(
      { issues: [issue({ id: '1', state: 'Done' })], settings: swept({ retentionMs: dayMs }) },
      { id: '1' },
    );
    const away = { issues: ['1'], host: 'there', ignores_retention: true };
    expect(await stage.command('workspaces_prune', away)).toBeNull();
    expect(await stage.command('pause')).toMatchObject({ status: 'done' });
    expect(await stage.command('workspaces_prune', wish(['1'], { ignores_retention: true }))).toMatchObject({
      status: 'done',
    });
    await stage.clock.advance(0);
    expect(stage.workspaces.removed).toEqual(paths('1'));
  });

  it('is refused after an hour: the machine was away, or no daemon ran', async () => {
    const settled = swept({ retentionMs: dayMs });
    const stage = await started({ issues: [issue({ id: '1', state: 'Done' })], settings: settled }, { id: '1' });
    const away = { issues: ['1'], host: 'there', ignores_retention: true };
    await stage.command('workspaces_prune', away);
    await stage.clock.advance(50 * minuteMs);
    expect(await stage.store.commands.waiting(stage.project, 9)).toHaveLength(1);
    await stage.clock.advance(12 * minuteMs);
    expect(await stage.store.commands.list(stage.project, 9)).toMatchObject([
      { result: { status: 'refused', code: 'command_expired' } },
    ]);
    expect(stage.workspaces.removed).toEqual([]);
  });

  it('answers also when the workspaces cannot be read', async () => {
    const stage = await started(
      { issues: [issue({ id: '1', state: 'Done' })], settings: swept({ retentionMs: dayMs }) },
      { id: '1' },
    );
    Object.assign(stage.workspaces.as, { list: () => Promise.reject(new Error('EIO')) });
    await stage.command('workspaces_prune', wish(['1']));
    await stage.clock.advance(0);
    expect((await stage.store.runs.read('past-1'))?.removal?.keptBecause).toBe('EIO');
  });
});

it('a person without a daemon prunes with an orchestrator that never started, except leftovers of a previous daemon', async () => {
  const stage = await scene({
    issues: ['1', '2', '3', '4'].map((id) => issue({ id, state: 'Done' })),
    settings: swept(),
  });
  for (const id of ['1', '2', '3']) await givenWorkspace(stage, { id });
  await givenWorkspace(stage, { id: '4', endedAgoMs: null });
  const held = { project: stage.project, issueId: '2', identifier: 'T-2', code: 'agent_survives', reason: 'alive' };
  await stage.store.held.put({ ...held, since: 0, runId: null });
  const done = await stage.orchestrator.prune({ issueIds: ['1', '2', '4'], ignoresRetention: false });
  expect(done).toEqual({ found: 3, due: 1, removed: 1 });
  expect(stage.workspaces.removed).toEqual(paths('1'));
  expect((await stage.store.runs.read('past-2'))?.removal?.keptBecause).toEqual(telling(held.reason));
  await stage.orchestrator.stop();
  expect(stage.started()).toEqual([]);
});
