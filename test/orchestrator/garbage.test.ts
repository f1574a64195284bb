import { describe, expect, it } from 'vitest';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { begun, scene } from './scene.ts';

const person = { kind: 'person', name: 'me' } as const;

describe('a tracker with invalid answers', () => {
  it('that lists an issue twice gets one agent for it', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    const { fetchByStates, fetchByIds } = stage.tracker;
    stage.tracker.fetchByStates = async (...parts) => {
      const found = await fetchByStates.apply(stage.tracker, parts);
      return [...found, ...found, ...found.map((each) => ({ ...each, title: 'again' }))];
    };
    stage.tracker.fetchByIds = async (...parts) => {
      const found = await fetchByIds.apply(stage.tracker, parts);
      return [...found, ...found];
    };
    await stage.orchestrator.start();
    await stage.clock.advance(5_000);
    expect(stage.started()).toEqual(['1']);
    stage.runs[0]?.succeed();
    await stage.clock.advance(1_000);
    expect(stage.started()).toEqual(['1', '1']);
  });

  // @conforms tick.19
  it.each(['__proto__', 'constructor', '@day', 'x'.repeat(5_000), 'two\nlines', ' ', "'; drop table claims; --", '💥'])(
    'that has an issue called %j completes it like any other',
    async (id) => {
      const stage = await begun({ issues: [issue({ id, identifier: id === ' ' ? 'T-space' : id })] });
      expect(stage.started()).toEqual(id === ' ' ? [] : [id]);
      if (id === ' ') return;
      stage.runs[0]?.fail();
      await stage.clock.advance(11_100);
      expect(stage.started()).toEqual([id, id]);
      stage.runs[1]?.fail('agent_input_required');
      await stage.clock.advance(0);
      stage.kill();
      const next = await begun({ store: stage.store, clock: stage.clock, tracker: stage.tracker });
      expect(next.orchestrator.read().held).toMatchObject([{ issue: { id } }]);
      expect(await next.command('issue_release', { issue: id })).toMatchObject({ status: 'done' });
      await next.clock.advance(0);
      expect(next.started()).toEqual([id]);
      await next.tracker.changes.moveIssue(id, 'Done', person);
      next.runs[0]?.succeed();
      await next.clock.advance(3_000);
      expect(next.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
      expect(await next.store.claims.read({ project: next.project, issueId: id })).toBeNull();
    },
  );
});

describe('a runner with invalid reports', () => {
  it('cannot change a run that has ended', async () => {
    const stage = await begun();
    const report = stage.runs[0]?.request.report ?? expect.fail('no run');
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    const before = JSON.stringify(stage.orchestrator.read().totals);
    report({ kind: 'stage', stage: 'streaming_turn' });
    report({ kind: 'workspace', path: '/elsewhere' });
    report({ kind: 'process', process: { pid: 1, startTime: 1 } });
    report({ kind: 'session', threadId: 'late' });
    report({ kind: 'turn', turn: 99 });
    report({ kind: 'moved', to: 'Done' });
    report({ kind: 'changed', changed: false, facts: null });
    const usage = { inputTokens: 9e15, outputTokens: 0, totalTokens: 9e15 };
    report({ kind: 'event', event: { name: 'notification', at: 0, pid: 1, summary: 'late', usage } });
    await stage.clock.advance(1_000);
    expect(JSON.stringify(stage.orchestrator.read().totals)).toBe(before);
    expect(await stage.store.runs.list(stage.project, { limit: 1 })).toMatchObject([
      { workspace: null, threadId: null },
    ]);
    await stage.clock.advance(11_000);
    // Nor does it speak for the run that comes after it.
    report({ kind: 'event', event: { name: 'notification', at: 0, pid: 1, summary: 'late', usage } });
    report({ kind: 'session', threadId: 'late' });
    expect(stage.orchestrator.read().running).toMatchObject([{ threadId: null, usage: { totalTokens: 0 } }]);
    expect(stage.runs[1]?.stops).toEqual([]);
  });

  it('that throws at the start is a failure with backoff', async () => {
    const stage = await begun({
      play: () => {
        throw new Error('no such program');
      },
    });
    await stage.clock.advance(1_000);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [{ attempt: 1, kind: 'failure' }] });
    const [run] = await stage.store.runs.list(stage.project, { limit: 5 });
    expect(run?.finish).toMatchObject({ outcome: 'failed' });
  });
});

it('a run without an outcome holds its issue, because its agent may be alive', async () => {
  const stage = await begun();
  stage.runs[0]?.crash();
  await stage.clock.advance(60_000);
  expect(stage.started()).toEqual(['1']);
  expect(stage.orchestrator.read().held).toMatchObject([{ code: 'agent_survives' }]);
});
