import { describe, expect, it } from 'vitest';
import type { Issue } from '../../src/core/issue/issue.ts';
import { skippedIssues } from '../../src/orchestrator/dispatch/skipped.ts';
import { QueueHealth } from '../../src/orchestrator/jobs/queue-health.ts';
import { Candidates } from '../../src/orchestrator/poll/candidates.ts';
import type { RunFinish } from '../../src/store/tables/runs.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { telling } from '../telling.ts';
import { seededClaims } from './seeded-claims.ts';

const hour = 3_600_000;
const day = 24 * hour;
const halfHour = hour / 2;
const { leaseMs } = settings().store;

/** Everything that a check reads, real: the store, the claims and the candidates. It has no tracker, so it can ask none. */
async function given(first: readonly Issue[] | null = []) {
  const clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1) });
  const store = await scratchStore(clock);
  const project = (await store.projects.ensure('test', 0)).id;
  const logger = memoryLogger();
  const all = settings();
  const workflow = {
    path: '',
    revision: '',
    settings: all,
    renderPrompt: () => '',
    promptOf: () => ({ version: 'v1', source: 'test' }),
    renderBranch: () => '',
  };
  const source = { read: () => ({ workflow, problem: null }) };
  const seeded = seededClaims({ store, clock, project });
  const candidates = new Candidates(source);
  const polled = (issues: readonly Issue[]) => void candidates.takeIn(all, issues);
  if (first !== null) polled(first);
  const parts = { ...seeded, candidates, store, project, clock, logger, source };
  const skipped = skippedIssues(seeded.claims);
  const health = new QueueHealth({ ...parts, skipped });
  const look = async () => {
    await health.check();
    return health.findings;
  };
  const codes = async () => (await look()).map(({ code, issueId }) => `${code} ${issueId}`);
  const warnings = () => logger.lines.filter(({ level }) => level === 'warn');
  const claim = async (issueId: string, owner: string) =>
    (
      await store.claims.take(
        { project, issueId },
        { owner, host: `host of ${owner}`, at: clock.now(), leaseMs, slotState: null },
      )
    )?.generation ?? 0;
  const start = (runId: string, issueId: string, generation = 1) =>
    store.runs.start({
      runId,
      project,
      issueId,
      identifier: `T-${issueId}`,
      generation,
      account: null,
      host: 'there',
      startedAt: clock.now(),
      role: 'worker',
      attempt: null,
      retryKind: null,
      backend: 'rehearsal',
    });
  const finish = (runId: string, end: Partial<RunFinish> = {}) =>
    store.runs.finish(runId, 1, {
      endedAt: clock.now(),
      outcome: 'failed',
      errorCode: 'agent_exited',
      errorMessage: `end of ${runId}`,
      ...end,
    });
  return { ...parts, skipped, workflow, polled, look, codes, warnings, claim, start, finish };
}

describe('a check of the queue', () => {
  it('finds nothing when everything progresses, also before the first poll, and logs one line', async () => {
    const { look, logger, polled } = await given(null);
    expect(await look()).toEqual([]);
    polled([issue({ id: '1' })]);
    expect(await look()).toEqual([]);
    expect(logger.lines).toEqual([
      { level: 'info', event: 'queue_checked', fields: { findings: 0, postponed: 0 } },
      { level: 'info', event: 'queue_checked', fields: { findings: 0, postponed: 0 } },
    ]);
  });

  // @conforms octo-1.13
  it('finds an issue a day after it was first seen in its state, with the reason', async () => {
    const blocked = issue({ id: '1' });
    const { clock, look, codes, skipped, polled } = await given([blocked, issue({ id: '2' })]);
    await look();
    skipped.set('1', { issue: blocked, reason: { code: 'blocked', text: 'it waits for T-9 (Todo)' } });
    await clock.advance(day - halfHour);
    polled([blocked, issue({ id: '2', state: 'In Progress' })]);
    expect(await codes()).toEqual([]);
    await clock.advance(halfHour);
    expect(await look()).toEqual([
      {
        code: 'waits_too_long',
        issueId: '1',
        identifier: 'T-1',
        text: telling('"Todo"', '24 h', 'it waits for T-9 (Todo)'),
        since: Date.UTC(2026, 0, 1),
      },
    ]);
  });

  it('finds an issue that did not change for long at once after a restart', async () => {
    const { codes, clock } = await given([issue({ id: '1', updatedAt: Date.UTC(2025, 11, 30) }), issue({ id: '2' })]);
    expect(await codes()).toEqual(['waits_too_long 1']);
    await clock.advance(1);
    expect(await codes()).toEqual(['waits_too_long 1']);
  });

  it('ignores issues that are claimed here or elsewhere, or were until now', async () => {
    const old = ['1', '2', '3'].map((id) => issue({ id, updatedAt: Date.UTC(2025, 0, 1) }));
    const { clock, codes, claims, retry, hold, elsewhere } = await given(old);
    retry('1', { failures: 0 });
    hold('2', { since: clock.now() });
    elsewhere({ issueId: '3', host: null });
    expect(await codes()).toEqual([]);
    for (const id of ['1', '2']) claims.lose(id);
    elsewhere();
    await clock.advance(halfHour);
    expect(await codes()).toEqual([]);
    await clock.advance(day);
    expect(await codes()).toEqual(['waits_too_long 1', 'waits_too_long 2', 'waits_too_long 3']);
  });

  // @conforms octo-1.13
  it('finds repeated failures, waiting or running, with the last error and the start', async () => {
    const { clock, look, claims, retry, run, workflow, store, project, start, finish } = await given();
    const ends: readonly Partial<RunFinish>[] = [
      { outcome: 'failed' },
      { outcome: 'succeeded', errorMessage: null },
      { outcome: 'timed_out' },
      { outcome: 'interrupted' },
      { outcome: 'failed', errorCode: 'agent_quota_exhausted' },
      { outcome: 'stalled' },
      { outcome: 'interrupted' },
    ];
    for (const [number, end] of ends.entries()) {
      await start(`r${number}`, '1');
      await clock.advance(1_000);
      await finish(`r${number}`, end);
    }
    retry('1', { failures: 2, error: 'boom' });
    retry('2', { failures: 1 });
    const finding = {
      code: 'fails_repeatedly',
      identifier: 'T-1',
      text: telling(2, 'end of r5'),
      since: Date.UTC(2026, 0, 1) + 3_000,
    };
    expect(await look()).toMatchObject([finding]);
    claims.lose('1');
    await store.counters.set({ project, issueId: '1' }, 'failures', 2);
    const running = await run('1', workflow);
    expect(await look()).toMatchObject([finding]);
    claims.abandon(running);
    expect(await look()).toEqual([]);
  });

  it('reports the error of the retry when the runs are pruned', async () => {
    const { look, retry } = await given();
    retry('1', { failures: 3, error: 'boom' });
    expect(await look()).toMatchObject([{ code: 'fails_repeatedly', text: telling(3, 'boom') }]);
  });

  it('finds an issue that is held for more than a day', async () => {
    const { clock, codes, hold } = await given();
    hold('1', { since: clock.now() });
    await clock.advance(day - 1);
    expect(await codes()).toEqual([]);
    await clock.advance(1);
    expect(await codes()).toEqual(['held_too_long 1']);
  });

  // @conforms octo-1.13
  it('finds abandoned leases, and never its own', async () => {
    const { clock, look, codes, run, workflow, claim } = await given([issue({ id: '1' })]);
    await claim('1', 'other');
    await run('2', workflow);
    await clock.advance(3 * leaseMs);
    expect(await codes()).toEqual([]);
    await clock.advance(1);
    expect(await look()).toMatchObject([
      {
        code: 'lease_abandoned',
        issueId: '1',
        identifier: 'T-1',
        text: telling('host of other', '1 min'),
      },
    ]);
    // Somebody takes it over.
    await claim('1', 'third');
    expect(await codes()).toEqual([]);
  });

  it('finds unfinished runs without a claim, and never its own', async () => {
    const { clock, codes, run, inherit, workflow, start } = await given();
    await start('gone', '1');
    await run('2', workflow);
    await start('being inherited', '3');
    inherit('3');
    await clock.advance(2 * leaseMs);
    expect(await codes()).toEqual([]);
    await clock.advance(1);
    expect(await codes()).toEqual(['run_abandoned 1']);
  });

  it('warns about each finding once a day, and again when it came back', async () => {
    const { clock, look, warnings, claims, hold } = await given();
    const since = clock.now() - day;
    hold('1', { since });
    for (let looks = 0; looks < 48; looks += 1) {
      await look();
      await clock.advance(halfHour);
    }
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]?.fields).toEqual({
      issue_id: '1',
      issue_identifier: 'T-1',
      finding: 'held_too_long',
      why: telling('24 h', 'a question'),
      since: '2025-12-31T00:00:00.000Z',
    });
    await look();
    expect(warnings()).toHaveLength(2);
    claims.lose('1');
    await look();
    hold('1', { since });
    await look();
    expect(warnings()).toHaveLength(3);
  });

  it('does not fill the log with a long queue, and still reports everything', async () => {
    const old = Array.from({ length: 50 }, (_, id) => issue({ id: `${id}`, updatedAt: Date.UTC(2025, 0, 1) }));
    const { look, warnings, logger } = await given(old);
    expect(await look()).toHaveLength(50);
    expect(warnings()).toHaveLength(20);
    expect(logger.lines.at(-1)?.fields).toEqual({ findings: 50, waits_too_long: 50, postponed: 30 });
    for (let looks = 0; looks < 3; looks += 1) await look();
    expect(new Set(warnings().map(({ fields }) => fields.issue_id)).size).toBe(50);
    expect(warnings()).toHaveLength(50);
  });

  // @conforms cadence.31
  it('changes nothing in the store and nothing in memory', async () => {
    const { look, claims, store, project, claim, start, clock } = await given([issue({ id: '1', updatedAt: 1 })]);
    await claim('1', 'other');
    await start('gone', '2');
    await clock.advance(day);
    const before = [structuredClone([...claims.all]), await store.recovery(project, clock.now())];
    expect(await look()).toHaveLength(3);
    expect([[...claims.all], await store.recovery(project, clock.now())]).toEqual(before);
  });

  it('starts again after a restart', async () => {
    for (let life = 0; life < 2; life += 1) {
      const { look, warnings } = await given([issue({ id: '1', updatedAt: Date.UTC(2025, 0, 1) })]);
      await look();
      expect(warnings()).toHaveLength(1);
    }
  });
});
