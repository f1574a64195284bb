import { describe, expect, it } from 'vitest';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { begun, besides, scene } from './scene.ts';

const hour = 3_600_000;
const person = { kind: 'person', name: 'me' } as const;

describe('an issue that changes during its run', () => {
  // @conforms O8
  it('to a state that is neither active nor terminal: run stopped, claim released, workspace kept', async () => {
    const stage = await begun();
    stage.runs[0]?.request.report({ kind: 'workspace', path: '/old/T-1' });
    await stage.tracker.changes.moveIssue('1', 'Backlog', person);
    await stage.clock.advance(100);
    expect(stage.runs[0]?.stops).toEqual(['inactive_state']);
    stage.runs[0]?.end();
    await stage.clock.advance(100);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [], completed: [] });
    expect(await stage.store.claims.read({ project: stage.project, issueId: '1' })).toBeNull();
    expect(stage.workspaces.removed).toEqual([]);
  });

  // @conforms O10
  it('to a terminal state after the root was changed: the recorded workspace is removed when its agent is gone', async () => {
    const stage = await begun();
    stage.runs[0]?.request.report({ kind: 'workspace', path: '/old/T-1' });
    stage.file.settings = settings({ intervalMs: 100, workspace: { root: '/new' } });
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    await stage.clock.advance(1_000);
    expect([stage.runs[0]?.stops, stage.workspaces.removed]).toEqual([['terminal_state'], []]);
    stage.runs[0]?.end();
    await stage.clock.advance(100);
    expect(stage.workspaces.removed).toEqual(['/old/T-1']);
    expect(stage.orchestrator.read().completed).toMatchObject([{ issue: { id: '1' }, state: 'Done' }]);
  });

  // @conforms O11
  it('and vanishes: run stopped, claim released, workspace kept', async () => {
    const stage = await begun();
    stage.runs[0]?.request.report({ kind: 'workspace', path: '/old/T-1' });
    stage.tracker.remove('1');
    await stage.clock.advance(1_100);
    expect(stage.runs[0]?.stops).toEqual(['issue_missing']);
    stage.runs[0]?.end();
    await stage.clock.advance(100);
    expect([stage.orchestrator.read().running, stage.workspaces.removed]).toEqual([[], []]);
  });

  it.each([
    // @conforms O13
    ['is not for Baton any more', { dispatchable: false }],
    // @conforms O14
    ['loses a label it needs', { labels: [] }],
  ])('%s: run stopped and claim released', async (_title, change) => {
    const labelled = settings({ intervalMs: 100, tracker: { requiredLabels: ['baton'] } });
    const stage = await begun({ issues: [issue({ id: '1', labels: ['baton'] })], settings: labelled });
    stage.tracker.put(issue({ id: '1', labels: ['baton'], ...change }));
    await stage.clock.advance(100);
    expect(stage.runs[0]?.stops).toEqual(['not_routable']);
    stage.runs[0]?.end();
    await stage.clock.advance(5_000);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
    expect(stage.started()).toEqual(['1']);
  });

  // @conforms O16
  it('while its retry waits, by losing its label: claim released, no retry', async () => {
    const labelled = settings({ intervalMs: 100, tracker: { requiredLabels: ['baton'] } });
    const stage = await begun({ issues: [issue({ id: '1', labels: ['baton'] })], settings: labelled });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    stage.tracker.put(issue({ id: '1' }));
    await stage.clock.advance(12_000);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [] });
    expect(await stage.store.retries.list(stage.project)).toEqual([]);
    expect(await stage.store.claims.read({ project: stage.project, issueId: '1' })).toBeNull();
  });

  // @conforms O17
  it('while its retry waits, by vanishing: claim released', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    stage.tracker.remove('1');
    await stage.clock.advance(12_000);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [] });
    expect(stage.started()).toEqual(['1']);
  });

  it('to a terminal state while its retry waits: its recorded workspace is removed', async () => {
    const stage = await begun();
    stage.runs[0]?.request.report({ kind: 'workspace', path: '/old/T-1' });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    await stage.clock.advance(12_000);
    expect(stage.workspaces.removed).toEqual(['/old/T-1']);
  });
});

describe('a silent run', () => {
  // @conforms O29
  it('is stopped and retried after its backoff, although the issue could start at once', async () => {
    const stage = await begun({
      issues: [issue({ id: '1', url: 'https://tracker/1' })],
      settings: settings({ intervalMs: 100, agent: { stallTimeoutMs: 1_000 } }),
    });
    await stage.clock.advance(5_000);
    expect(stage.runs[0]?.stops).toEqual(['stalled']);
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    const { retrying } = stage.orchestrator.read();
    expect(retrying).toMatchObject([{ attempt: 1, kind: 'failure', issue: { url: 'https://tracker/1' } }]);
    const waitMs = (retrying[0]?.dueAt ?? 0) - stage.clock.now();
    expect(waitMs).toBeGreaterThanOrEqual(10_000);
    expect(waitMs).toBeLessThanOrEqual(11_000);
    await stage.clock.advance(waitMs - 1);
    expect(stage.runs).toHaveLength(1);
  });

  it.each([0, -1])('is never stopped with a stall timeout of %i', async (stallTimeoutMs) => {
    const stage = await begun({ settings: settings({ intervalMs: hour, agent: { stallTimeoutMs } }) });
    await stage.clock.advance(2 * hour);
    expect(stage.runs[0]?.stops).toEqual([]);
  });
});

describe('a process that vanished without an exit', () => {
  const withProcess = async () => {
    const stage = await begun({ settings: settings({ intervalMs: hour }) });
    stage.runs[0]?.request.report({ kind: 'process', process: { pid: 7, startTime: 1 } });
    return stage;
  };

  // @conforms 4.53
  it('counts as lost at the second check, a second after the first', async () => {
    const stage = await withProcess();
    stage.dead.add(7);
    await stage.clock.advance(10_000);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(1_000);
    expect(stage.runs[0]?.stops).toEqual(['process_gone']);
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ kind: 'failure', attempt: 1 }]);
  });

  it('does not count as lost by many checks while its exit is on the way', async () => {
    const stage = await withProcess();
    stage.dead.add(7);
    for (let looks = 0; looks < 5; looks += 1) {
      stage.orchestrator.refresh();
      await stage.clock.advance(1);
    }
    expect(stage.runs[0]?.stops).toEqual([]);
  });

  it('is forgotten when another process replaces it, or the run reports its end', async () => {
    const stage = await withProcess();
    stage.dead.add(7);
    await stage.clock.advance(5_000);
    stage.runs[0]?.request.report({ kind: 'process', process: { pid: 8, startTime: 2 } });
    await stage.clock.advance(20_000);
    stage.dead.add(8);
    stage.runs[0]?.request.report({ kind: 'process', process: null });
    await stage.clock.advance(20_000);
    expect(stage.runs[0]?.stops).toEqual([]);
  });
});

describe('leftovers of a previous daemon', () => {
  // @conforms 4.54
  it('level 2: an unfinished run without an owner is ended and its issue continues', async () => {
    const stage = await begun({ issues: [] });
    const key = { project: stage.project, issueId: '5' };
    await stage.store.runs.start({
      ...key,
      runId: 'lost',
      identifier: 'T-5',
      generation: 0,
      role: 'worker',
      attempt: 2,
      retryKind: 'failure',
      backend: 'rehearsal',
      account: null,
      host: 'here',
      startedAt: stage.clock.now(),
    });
    stage.tracker.put(issue({ id: '5' }));
    await stage.clock.advance(10_000);
    expect(stage.swept).toEqual(['lost']);
    expect((await stage.store.runs.read('lost'))?.finish).toMatchObject({ outcome: 'interrupted' });
    expect(stage.runs.map(({ request }) => [request.attempt, request.retryKind])).toEqual([[2, 'interrupted']]);
  });

  // @conforms 4.55
  it('level 3: an issue in a running state without a run or a claim starts again', async () => {
    const stage = await scene({
      issues: [issue({ id: '1', state: 'In Progress' })],
      settings: settings({ intervalMs: 100 }),
    });
    Object.assign(stage.tracker, { startMove: { from: 'Todo', to: 'In Progress' } });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['1']);
  });

  it('a workspace with an agent of another daemon is not removed by a start', async () => {
    const one = await begun({ isShared: true, owner: 'one' });
    one.runs[0]?.request.report({ kind: 'workspace', path: '/workspaces/T-1' });
    // Its agent moved it on and says its last words.
    one.runs[0]?.request.report({ kind: 'moved', to: 'Done' });
    await one.tracker.changes.moveIssue('1', 'Done', person);
    const other = await besides(one);
    await other.orchestrator.start();
    await one.clock.advance(1_000);
    expect([one.runs[0]?.stops, other.workspaces.removed]).toEqual([[], []]);
  });
});

describe('the completed issues', () => {
  it('gate nothing', async () => {
    const stage = await begun();
    for (const state of ['Done', 'Todo']) {
      await stage.tracker.changes.moveIssue('1', state, person);
      await stage.clock.advance(200);
      if (state === 'Done') stage.runs[0]?.end();
      await stage.clock.advance(200);
    }
    expect(stage.orchestrator.read().completed).toMatchObject([{ issue: { id: '1' }, state: 'Done' }]);
    expect(stage.started()).toEqual(['1', '1']);
  });

  // @conforms 2.3
  it('are bounded to the latest thousand', async () => {
    const { clock, store, project, tracker } = await scene({ issues: [issue({ id: '1' })] });
    const facts = { project, title: null, url: null, state: 'Done' };
    for (let nth = 0; nth < 1_005; nth += 1) {
      const at = clock.now() - 9_000 + nth;
      await store.finishedIssues.note({ ...facts, issueId: `i${nth}`, identifier: `I-${nth}`, at }, 0);
    }
    const stage = await begun({ clock, store, tracker });
    expect(stage.orchestrator.read().completed).toHaveLength(1_000);
    await tracker.changes.moveIssue('1', 'Done', person);
    await clock.advance(1_000);
    stage.runs[0]?.end();
    await clock.advance(100);
    const ids = stage.orchestrator.read().completed.map((entry) => entry.issue.id);
    expect([ids.length, ids[0], ...ids.slice(-2)]).toEqual([1_000, 'i6', 'i1004', '1']);
  });
});
