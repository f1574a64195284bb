import { describe, expect, it } from 'vitest';
import type { Publication } from '../../src/core/run/run-evidence.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { begun, type Scene, type SceneOptions, scene, spend } from './scene.ts';

const slow = settings({ intervalMs: 60_000 });

/** The next life of a daemon that was killed, on its store, at the same time. */
async function nextLife(
  { store, clock, tracker, kill }: Scene,
  options: SceneOptions = {},
  arrange: (next: Scene) => void = () => {},
): Promise<Scene> {
  kill();
  const next = await scene({ settings: slow, ...options, store, clock, tracker });
  arrange(next);
  await next.orchestrator.start();
  await next.clock.advance(0);
  return next;
}

describe('after a kill', () => {
  // @conforms O23
  it('an interrupted run continues at once, after its processes are gone, with its attempt and its thread', async () => {
    const first = await begun();
    first.runs[0]?.fail();
    await first.clock.advance(11_100);
    first.runs[1]?.request.report({ kind: 'session', threadId: 'thread-2' });
    await first.clock.advance(300);
    const next = await nextLife(first);
    expect(next.swept).toEqual([first.runs[1]?.request.runId]);
    expect(next.runs.map(({ request }) => [request.attempt, request.retryKind, request.threadId])).toEqual([
      [1, 'interrupted', 'thread-2'],
    ]);
    // One failure before it, none by it: the next one is the second.
    next.runs[0]?.fail();
    await next.clock.advance(0);
    expect(next.orchestrator.read().retrying).toMatchObject([{ attempt: 2, kind: 'failure' }]);
  });

  // @conforms git.3
  it('commits of an interrupted run are published, with or without a next run', async () => {
    const first = await begun();
    first.runs[0]?.request.report({ kind: 'workspace', path: '/workspaces/T-1' });
    await first.clock.advance(300);
    const next = await nextLife(first);
    expect(next.workspaces.broughtHome).toEqual(['/workspaces/T-1']);
  });

  it('the publication of an interrupted run is recorded, and earlier evidence stays', async () => {
    const first = await begun();
    const { runId, report } = first.runs[0]?.request ?? expect.fail('no run');
    report({ kind: 'workspace', path: '/workspaces/T-1' });
    report({ kind: 'changed', changed: true, facts: { fingerprint: 'f', git: null } });
    await first.clock.advance(300);
    const publication: Publication = {
      outcome: 'published',
      branch: 'baton/t-1',
      commit: 'a'.repeat(40),
      before: null,
      reason: null,
      elsewhere: null,
    };
    const next = await nextLife(first, {}, ({ workspaces }) => {
      workspaces.answers.publication = publication;
    });
    expect(await next.store.runs.read(runId)).toMatchObject({
      finish: { outcome: 'interrupted' },
      evidence: { changed: true, fingerprint: 'f', git: null, publication },
    });
  });

  it.each(['succeed', 'fail'] as const)('a run after one that did %s starts a new conversation', async (end) => {
    const first = await begun();
    first.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
    first.runs[0]?.[end]();
    await first.clock.advance(500);
    const next = await nextLife(first);
    await next.clock.advance(12_000);
    expect(next.runs[0]?.request.threadId).toBeNull();
  });

  it('a thread of another backend is not resumed', async () => {
    const first = await begun();
    first.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
    await first.clock.advance(300);
    const next = await nextLife(first, { settings: settings({ agent: { backend: 'command' } }) });
    expect(next.runs[0]?.request).toMatchObject({ retryKind: 'interrupted', threadId: null });
  });

  it('repeated kills interrupt an issue each time and count nothing', async () => {
    let life = await begun();
    for (let kills = 0; kills < 8; kills += 1) life = await nextLife(life);
    expect(life.runs[0]?.request).toMatchObject({ attempt: null, retryKind: 'interrupted' });
    expect(await life.store.runs.unfinished(life.project)).toHaveLength(1);
    life.runs[0]?.fail();
    await life.clock.advance(0);
    expect(life.orchestrator.read().retrying).toMatchObject([{ attempt: 1, kind: 'failure' }]);
  });

  // @conforms claims.13
  it('a retry keeps its due time to the millisecond', async () => {
    const first = await begun();
    await first.clock.advance(1_234);
    first.runs[0]?.fail();
    await first.clock.advance(3_333);
    const dueAt = first.orchestrator.read().retrying[0]?.dueAt ?? expect.fail('no retry');
    const next = await nextLife(first);
    await next.clock.advance(dueAt - next.clock.now() - 1);
    expect(next.started()).toEqual([]);
    await next.clock.advance(1);
    expect(next.runs[0]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
  });

  // @conforms claims.15
  it('a retry waits at most the longest backoff, however far the wall clock was set back', async () => {
    const first = await begun();
    first.runs[0]?.fail();
    await first.clock.advance(0);
    first.clock.jumpWall(-30 * 24 * 3_600_000);
    const next = await nextLife(first);
    await next.clock.advance(330_000);
    expect(next.started()).toEqual(['1']);
  });

  it('a held issue stays held, with its reason and its time', async () => {
    const first = await begun();
    first.runs[0]?.fail('agent_input_required');
    await first.clock.advance(0);
    const [held] = first.orchestrator.read().held;
    const next = await nextLife(first);
    await next.clock.advance(600_000);
    expect(next.started()).toEqual([]);
    expect(next.orchestrator.read().held).toMatchObject([
      { code: held?.code, reason: held?.reason, since: held?.since, runId: held?.runId },
    ]);
  });

  // @conforms claims.14
  it('a hold that waited for the end of a run applies, although the run never ended', async () => {
    const first = await begun();
    await first.command('issue_hold', { issue: '1', reason: 'enough' });
    const next = await nextLife(first);
    await next.clock.advance(60_000);
    expect([next.started(), next.swept]).toEqual([[], [first.runs[0]?.request.runId]]);
    expect(next.orchestrator.read().held).toMatchObject([{ code: 'person', reason: 'enough' }]);
    expect((await next.store.runs.list(next.project, { limit: 1 }))[0]?.finish?.outcome).toBe('interrupted');
    await next.command('issue_release', { issue: '1' });
    await next.clock.advance(0);
    expect(next.started()).toEqual(['1']);
  });

  it('the spending is kept', async () => {
    const limited = settings({ intervalMs: 60_000, limits: { tokensPerIssue: 1_000 } });
    const first = await begun({ settings: limited });
    spend(first.runs[0], 700);
    await first.clock.advance(300);
    const next = await nextLife(first, { settings: limited });
    spend(next.runs[0], 299);
    expect(next.runs[0]?.stops).toEqual([]);
    spend(next.runs[0], 300);
    expect(next.runs[0]?.stops).toEqual(['limit_reached']);
  });

  // @conforms claims.16
  it('with a new store, all unfinished issues are worked on, each once', async () => {
    const first = await begun({ issues: ['1', '2', '3'].map((id) => issue({ id })) });
    first.runs[1]?.fail();
    await first.clock.advance(0);
    await first.tracker.changes.moveIssue('3', 'Done', { kind: 'orchestrator' });
    first.kill();
    const order: string[] = [];
    const next = await scene({
      tracker: first.tracker,
      processes: {
        endLeftovers: async () => {
          order.push('swept');
          return { ended: 1, left: [] };
        },
      },
      play: (run) => void order.push(run.request.issue.id),
    });
    await next.orchestrator.start();
    await next.clock.advance(60_000);
    expect(order).toEqual(['swept', '1', '2']);
  });
});
