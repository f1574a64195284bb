import { describe, expect, it } from 'vitest';
import type { PublishedBranch } from '../../src/core/prune.ts';
import type { Publication } from '../../src/core/run/run-evidence.ts';
import { scanAllowedFrom, scansToRead } from '../../src/core/task/scan.ts';
import { taskKindOf } from '../../src/core/task/task.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { pullDraft } from '../store/pull-draft.ts';
import { besides, gate, type Scene, type SceneOptions, scene } from './scene.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const keeps = (branchRetentionDays: number) =>
  settings({
    ...{ intervalMs: 60_000, workspace: { branchRetentionDays } },
    polling: { jobIntervalsMs: { pruning: hourMs } },
  });
const published = { outcome: 'published', before: null, reason: null, elsewhere: null, base: 'main' } as const;

/** A run of an issue that published its branch and ended some days ago. */
async function givenBranch(stage: Scene, id: string, days: number, more: Partial<Publication> = {}): Promise<void> {
  const { store, project, clock } = stage;
  const facts = { project, issueId: id, identifier: `T-${id}`, role: 'worker', backend: 'x', account: null };
  const startedAt = clock.now() - days * dayMs;
  const run = { runId: `past-${id}-${days}`, generation: 1, attempt: null, retryKind: null, startedAt, host: 'here' };
  await store.runs.start({ ...facts, ...run });
  const publication = { ...published, branch: `baton/t-${id}`, commit: `c${id}`, ...more };
  await store.runs.record(run.runId, 1, {
    workspace: `/workspaces/T-${id}`,
    evidence: { changed: true, fingerprint: null, git: null, publication },
  });
  const end = { outcome: 'succeeded', errorCode: null, errorMessage: null } as const;
  await store.runs.finish(run.runId, 1, { ...end, endedAt: startedAt });
}

/** A daemon at work, whose machine has every branch that Baton published; no workspace is left. */
async function started(options: SceneOptions = {}) {
  const deleted: string[] = [];
  const stage = await scene({
    settings: keeps(30),
    files: {
      standing: async (_, branches) => branches,
      deleteBranch: async (_, { branch }: PublishedBranch) => deleted.push(branch) > 0,
    },
    ...options,
  });
  Object.assign(stage.workspaces.as, { isThere: async () => false });
  return { ...stage, deleted };
}

const done = (id: string) => issue({ id, state: 'Done' });
const here = { host: 'here' };

describe('the branches that a prune deletes', () => {
  // @conforms 4.130
  it('are those of finished issues past their retention, of which nothing is in use', async () => {
    const ids = ['1', '2', '3', '5', '6', '7', '8'];
    const stage = await started({ issues: [...ids.map(done), issue({ id: '9', state: 'Backlog' })] });
    const { store, project, clock } = stage;
    await givenBranch(stage, '7', 41, { before: 'of a person' });
    for (const id of [...ids, '9', 'gone']) await givenBranch(stage, id, 40);
    // Younger; claimed by another daemon; pinned; its workspace is there; a person's branch; an open pull request.
    await givenBranch(stage, '2', 20);
    await store.claims.take(
      { project, issueId: '3' },
      { owner: 'other', at: clock.now(), leaseMs: 60_000, host: 'there', slotState: null },
    );
    await store.pins.put({ project, issueId: '5', identifier: 'T-5', since: 0, author: { kind: 'orchestrator' } });
    Object.assign(stage.workspaces.as, { isThere: async (path: string) => path === '/workspaces/T-6' });
    await store.pullRequests.open(pullDraft('8', { project }));
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(await stage.command('prune', here)).toMatchObject({ status: 'done', code: 'pruned' });
    expect(stage.deleted).toEqual(['baton/t-1']);
  });

  it('are none when they are kept forever, and the job deletes them too', async () => {
    const forever = await started({ issues: [done('1')], settings: keeps(0) });
    await givenBranch(forever, '1', 400);
    await forever.orchestrator.start();
    await forever.clock.advance(hourMs + 60_000);
    expect(forever.deleted).toEqual([]);
    const stage = await started({ issues: [done('1')] });
    await givenBranch(stage, '1', 40);
    await stage.orchestrator.start();
    await stage.clock.advance(hourMs + 60_000);
    expect(stage.deleted).toContain('baton/t-1');
  });
});

describe('the command to prune', () => {
  it('is answered when everything is removed, and delays no other command', async () => {
    const held = gate();
    const stage = await started({
      files: {
        caches: async () => {
          await held.passed;
          return { count: 2, bytes: 7 };
        },
      },
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(await stage.command('prune', here)).toBeNull();
    expect(await stage.command('pause')).toMatchObject({ status: 'done' });
    held.open();
    await stage.clock.advance(60_000);
    const [, prune] = await stage.store.commands.list(stage.project, 9);
    expect(prune?.result).toMatchObject({ status: 'done', code: 'pruned' });
    expect(prune?.result?.data.rows).toContainEqual({ kind: 'caches', count: 2, bytes: 7, problem: null });
  });

  it('says what went wrong with one kind, and prunes the others', async () => {
    const stage = await started({
      issues: [done('1')],
      files: { ...branchless, caches: async () => Promise.reject(new Error('EIO')) },
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    const answer = await stage.command('prune', here);
    expect(answer?.data.rows).toMatchObject([
      { kind: 'workspaces', problem: null },
      { kind: 'branches', problem: null },
      { kind: 'saved_work', problem: null },
      { kind: 'caches', count: 0, problem: 'EIO' },
      { kind: 'runs', problem: null },
      { kind: 'transcripts', problem: null },
      { kind: 'artifacts', problem: null },
      { kind: 'tasks', problem: null },
      { kind: 'records', problem: null },
    ]);
  });

  // @conforms 4.130
  it('tells how many tasks are over and old, removes them, and leaves the pause of the scanner as it is', async () => {
    const stage = await started();
    const { store, project, clock } = stage;
    const author = { kind: 'orchestrator' } as const;
    const decided = clock.now() - 100 * dayMs;
    const ids = [...Array.from({ length: 9 }, (_, at) => `scan:${at}`), 'intake:1', 'setup:1'];
    for (const [at, id] of ids.entries()) {
      const task = { kind: taskKindOf(id) ?? 'intake', title: id, text: '', author, createdAt: decided + at };
      await store.tasks.add(project, { id, ...task });
      await store.tasks.decide({ project, taskId: id }, 'refused', null, decided + at);
    }
    const scans = () => store.tasks.list(project, { kind: 'scan', limit: scansToRead });
    const pause = scanAllowedFrom(dayMs, await scans());
    expect(pause).toBe(decided + 8 + 64 * dayMs);
    const amount = { kind: 'tasks', count: 4, problem: null };
    expect(await stage.orchestrator.pruneAll({ dryRun: true })).toContainEqual(expect.objectContaining(amount));
    expect(await store.tasks.list(project, { limit: 99 })).toHaveLength(11);
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect((await stage.command('prune', here))?.data.rows).toContainEqual(expect.objectContaining(amount));
    expect(await store.tasks.list(project, { limit: 99 })).toHaveLength(7);
    expect(scanAllowedFrom(dayMs, await scans())).toBe(pause);
  });

  it('is carried out by the next daemon when its daemon was killed, and only on its machine', async () => {
    const never = gate();
    const stage = await started({ files: { caches: () => never.passed.then(() => ({ count: 0, bytes: 0 })) } });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(await stage.command('prune', here)).toBeNull();
    expect(await stage.command('prune', { host: 'there' })).toBeNull();
    stage.kill();
    const next = await besides(stage, { settings: keeps(30) });
    await next.orchestrator.start();
    await next.clock.advance(60_000);
    const answers = await next.store.commands.list(next.project, 9);
    expect(answers.map(({ payload, result }) => [payload.host, result?.code])).toEqual([
      ['there', undefined],
      ['here', 'pruned'],
    ]);
  });
});

const branchless = { standing: async () => [] };
