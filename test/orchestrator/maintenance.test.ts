import { expect, it } from 'vitest';
import { settings } from '../fake/settings.ts';
import { scene } from './scene.ts';

const dayMs = 24 * 3_600_000;

async function withOldRuns(ages: readonly number[], retentionDays: number) {
  const stage = await scene({
    settings: { ...settings({ intervalMs: 60_000 }), store: { url: null, retentionDays, leaseMs: 30_000 } },
  });
  for (const [index, days] of ages.entries()) {
    const at = stage.clock.now() - days * dayMs;
    const facts = {
      project: stage.project,
      issueId: 'i',
      identifier: 'T-i',
      role: 'worker',
      backend: 'x',
      account: null,
      host: 'here',
    };
    const run = { runId: `run-${index}`, generation: 1, attempt: null, retryKind: null, startedAt: at };
    await stage.store.runs.start({ ...facts, ...run });
    await stage.store.runs.finish(run.runId, 1, {
      endedAt: at,
      outcome: 'succeeded',
      errorCode: null,
      errorMessage: null,
    });
  }
  const left = async () =>
    (await stage.store.runs.list(stage.project, { limit: 1_000 })).map(({ runId }) => runId).toSorted();
  return { ...stage, left };
}

// @conforms board.10
it('removes finished runs past the retention, with their transcripts, and no others', async () => {
  const stage = await withOldRuns([1, 89, 91, 400], 90);
  await stage.orchestrator.start();
  await stage.clock.advance(600_000);
  expect(await stage.left()).toEqual(['run-0', 'run-1']);
  expect(stage.forgotten.toSorted()).toEqual(['run-2', 'run-3']);
});

it('removes nothing when the retention is forever', async () => {
  const stage = await withOldRuns([5_000], 0);
  await stage.orchestrator.start();
  await stage.clock.advance(600_000);
  expect(await stage.left()).toEqual(['run-0']);
});

it('runs every ten minutes, also with more frequent restarts', async () => {
  const first = await withOldRuns([100], 90);
  const ranAt = async (): Promise<number | null | undefined> =>
    (await first.store.jobTimers.list(first.project)).find(({ job }) => job === 'store_maintenance')?.lastRunAt;
  await first.orchestrator.start();
  await first.clock.advance(400_000);
  expect(await ranAt()).toBeNull();
  first.kill();
  const { clock, store } = first;
  const second = await scene({ settings: settings({ intervalMs: 60_000 }), store, clock });
  await second.orchestrator.start();
  await clock.advance(250_000);
  const once = await ranAt();
  expect(once).toBe(clock.now() - 50_000);
  second.kill();
  const third = await scene({ settings: settings({ intervalMs: 60_000 }), store, clock });
  await third.orchestrator.start();
  await clock.advance(540_000);
  expect(await ranAt()).toBe(once);
  await clock.advance(20_000);
  expect(await ranAt()).toBe((once ?? 0) + 600_000);
});
