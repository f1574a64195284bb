import { expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Publication } from '../../src/core/run/run-evidence.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { telling } from '../telling.ts';
import { scene } from './scene.ts';

// @conforms board.7
it('records a run before it begins, its facts while it runs, and how it ended', async () => {
  const stage = await scene({ issues: [issue({ id: '1' })] });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const { runId, report } = stage.runs[0]?.request ?? expect.fail('no run');
  expect(await stage.store.runs.read(runId)).toMatchObject({
    identifier: 'T-1',
    attempt: null,
    host: 'here',
    finish: null,
  });

  report({ kind: 'workspace', path: '/ws/T-1' });
  report({ kind: 'process', process: { pid: 4242, startTime: 99 } });
  report({ kind: 'session', threadId: 'thread-1' });
  report({ kind: 'turn', turn: 1 });
  const usage = { inputTokens: 10, outputTokens: 2, totalTokens: 12 };
  report({ kind: 'event', event: { name: 'notification', at: 5, pid: 4242, summary: 'reading', usage } });
  await stage.clock.advance(250);
  expect(await stage.store.runs.read(runId)).toMatchObject({
    workspace: '/ws/T-1',
    pid: 4242,
    pidStartTime: 99,
    threadId: 'thread-1',
    turns: 1,
    totalTokens: 12,
    finish: null,
  });

  report({ kind: 'event', event: { name: 'turn_failed', at: 6, pid: 4242, summary: 'out of luck' } });
  stage.runs[0]?.fail();
  await stage.clock.advance(0);
  expect((await stage.store.runs.read(runId))?.finish).toMatchObject({ outcome: 'failed', errorCode: 'agent_exited' });
  const events = await stage.store.runEvents.list(runId, { limit: 10 });
  expect(events.map(({ seq, name, summary }) => [seq, name, summary])).toEqual([
    [1, 'notification', 'reading'],
    [2, 'turn_failed', 'out of luck'],
  ]);
});

it('records what a run left in its workspace, at the latest with its end', async () => {
  const stage = await scene({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const git = { head: 'a'.repeat(40), branch: 'b', ahead: 2, changed: 3, untracked: 1, conflicts: 0 };
  const [seen, unseen] = stage.runs;
  seen?.request.report({ kind: 'changed', changed: true, facts: { fingerprint: 'f', git } });
  unseen?.request.report({ kind: 'changed', changed: null, facts: null });
  seen?.succeed();
  unseen?.fail();
  await stage.clock.advance(0);
  const evidenceOf = async (run: typeof seen) => (await stage.store.runs.read(run?.request.runId ?? ''))?.evidence;
  expect(await evidenceOf(seen)).toEqual({ changed: true, fingerprint: 'f', git });
  expect(await evidenceOf(unseen)).toEqual({ changed: null, fingerprint: null, git: null });
});

it('records the publication with the other evidence, also when nothing was examined', async () => {
  const stage = await scene({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const publication: Publication = {
    outcome: 'refused',
    branch: 'baton/t-1',
    commit: 'a'.repeat(40),
    before: null,
    reason: 'it is checked out',
    elsewhere: null,
  };
  const [seen, unseen] = stage.runs;
  seen?.request.report({ kind: 'changed', changed: true, facts: { fingerprint: 'f', git: null } });
  // Written already when the rest comes.
  await stage.clock.advance(300);
  seen?.request.report({ kind: 'published', publication });
  unseen?.request.report({ kind: 'published', publication });
  seen?.succeed();
  unseen?.fail();
  await stage.clock.advance(0);
  const evidenceOf = async (run: typeof seen) => (await stage.store.runs.read(run?.request.runId ?? ''))?.evidence;
  expect(await evidenceOf(seen)).toEqual({ changed: true, fingerprint: 'f', git: null, publication });
  expect(await evidenceOf(unseen)).toEqual({ changed: null, fingerprint: null, git: null, publication });
});

// @conforms board.8
it('does not begin a run whose start cannot be recorded, and tries again', async () => {
  const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 1_000 }) });
  await stage.orchestrator.start();
  const { transaction } = stage.store;
  stage.store.transaction = async () => {
    throw new BatonError('store_full', 'no space left');
  };
  await stage.clock.advance(0);
  expect(stage.runs).toEqual([]);
  expect(stage.orchestrator.read()).toMatchObject({
    running: [],
    retrying: [],
    skipped: [{ reason: { code: 'not_recorded', text: telling('no space left') } }],
    totals: { runs: 0 },
  });
  stage.store.transaction = transaction;
  await stage.clock.advance(1_000);
  expect(stage.runs).toHaveLength(1);
});

it('keeps events that could not be written, and writes them later in order', async () => {
  const stage = await scene({ issues: [issue({ id: '1' })] });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const { runId, report } = stage.runs[0]?.request ?? expect.fail('no run');
  const { transaction } = stage.store;
  stage.store.transaction = async () => {
    throw new BatonError('store_busy', 'busy');
  };
  report({ kind: 'event', event: { name: 'notification', at: 1, pid: 1, summary: 'one' } });
  await stage.clock.advance(1_000);
  stage.store.transaction = transaction;
  report({ kind: 'event', event: { name: 'notification', at: 2, pid: 1, summary: 'two' } });
  await stage.clock.advance(1_000);
  expect((await stage.store.runEvents.list(runId, { limit: 10 })).map(({ summary }) => summary)).toEqual([
    'one',
    'two',
  ]);
});

// @conforms board.11
it('keeps the slot until the end of the run is written, however often that fails', async () => {
  const stage = await scene({ issues: [issue({ id: '1' })] });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const { transaction } = stage.store;
  let failures = 0;
  stage.store.transaction = async (work) => {
    failures += 1;
    if (failures <= 3) throw new BatonError('store_full', 'no space left');
    return transaction(work);
  };
  stage.runs[0]?.succeed();
  await stage.clock.advance(400);
  expect(stage.orchestrator.read().slots.used).toBe(1);
  await stage.clock.advance(10_000);
  expect(failures).toBeGreaterThan(3);
  expect((await stage.store.runs.list(stage.project, { limit: 10 })).at(-1)?.finish?.outcome).toBe('succeeded');
});

it('never lowers totals between two writes, and puts every event into the transcript', async () => {
  const stage = await scene({ issues: [issue({ id: '1' })] });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const { runId, report } = stage.runs[0]?.request ?? expect.fail('no run');
  for (const total of [100, 40]) {
    const usage = { inputTokens: total, outputTokens: 0, totalTokens: total };
    report({ kind: 'event', event: { name: 'notification', at: 1, pid: 1, summary: `${total}`, usage } });
  }
  await stage.clock.advance(250);
  expect((await stage.store.runs.read(runId))?.totalTokens).toBe(100);
  expect(stage.transcript.map((line) => JSON.parse(line).summary)).toEqual(['100', '40']);
});

// @conforms board.12
it('counts the usage of a run for the day of its end, with its end or not at all', async () => {
  const stage = await scene({ issues: [issue({ id: '1' })] });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const usage = { inputTokens: 10, outputTokens: 2, totalTokens: 12 };
  stage.runs[0]?.request.report({ kind: 'event', event: { name: 'notification', at: 1, pid: 1, summary: '', usage } });
  stage.runs[0]?.succeed();
  await stage.clock.advance(0);
  const [day] = await stage.store.usage.sumByDay(stage.project, { fromDay: '2026-01-01', toDay: '2026-12-31' });
  expect(day).toMatchObject({ day: '2026-01-01', runs: 1, inputTokens: 10, outputTokens: 2, totalTokens: 12 });
});

it('writes a transcript line once, although the store needs several tries', async () => {
  const stage = await scene({ issues: [issue({ id: '1' })] });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const { transaction } = stage.store;
  stage.store.transaction = async () => {
    throw new BatonError('store_busy', 'busy');
  };
  stage.runs[0]?.request.report({ kind: 'event', event: { name: 'notification', at: 1, pid: 1, summary: 'one' } });
  await stage.clock.advance(1_000);
  stage.store.transaction = transaction;
  await stage.clock.advance(1_000);
  expect(stage.transcript.map((line) => JSON.parse(line).summary)).toEqual(['one']);
});
