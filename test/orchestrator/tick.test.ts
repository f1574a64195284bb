import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, gate, scene } from './scene.ts';

const steps = ['transitions', 'safety', 'revision_expiry', 'reconcile', 'retries', 'intake', 'dispatch', 'maintenance'];
const hour = 3_600_000;

describe('a tick', () => {
  // @conforms 4.2, 4.10, 4.11, 4.18, 4.24
  it("has exactly seed 4's steps in order, and reports them", async () => {
    const stage = await begun();
    expect(stage.health[0]?.tick.steps.map(({ step }) => step)).toEqual(steps);
    expect(stage.health[0]?.tick).toMatchObject({ number: 1, startedAt: stage.clock.now(), durationMs: 0 });
  });

  // @conforms 4.22
  it.each([
    ['recovery', 'reconcile'],
    ['commands.latestDone', 'reconcile'],
  ])('continues after %s failed in %s, reports it, and clears it when it is fixed', async (broken, where) => {
    let isBroken = false;
    const stage = await begun({
      isShared: true,
      settings: settings({ intervalMs: 5_000 }),
      through: (store) =>
        storeThrough(store, {
          before: (call) => {
            if (isBroken && call === broken) throw new BatonError('store_busy', 'busy');
          },
        }),
    });
    stage.tracker.put(issue({ id: '2' }));
    await stage.clock.advance(60_000);
    isBroken = true;
    stage.tracker.put(issue({ id: '3' }));
    await stage.clock.advanceUntil(() => stage.orchestrator.read().errors.length > 0, 120_000);
    const { tick } = stage.health.at(-1) ?? expect.fail('no health');
    expect(tick.steps.map(({ step }) => step)).toEqual(steps);
    expect(tick.steps.filter(({ error }) => error !== null)).toMatchObject([
      { step: where, error: { code: 'store_busy' } },
    ]);
    expect(stage.orchestrator.read().errors).toMatchObject([{ step: where, error: { code: 'store_busy' } }]);
    await stage.clock.advance(0);
    expect(stage.started()).toContain('3');
    isBroken = false;
    await stage.clock.advance(120_000);
    expect(stage.orchestrator.read().errors).toEqual([]);
  });

  // @conforms 4.3, 4.5
  it('ends between two steps at a stop, and still reports its health', async () => {
    const slow = gate();
    let isSlow = false;
    const stage = await begun({
      isShared: true,
      issues: [],
      through: (store) =>
        storeThrough(store, {
          before: async (call) => {
            if (isSlow && call === 'recovery') await slow.passed;
          },
        }),
    });
    isSlow = true;
    await stage.clock.advance(100);
    const before = stage.health.length;
    const stopping = stage.orchestrator.stop();
    slow.open();
    await stage.clock.advance(0);
    await stopping;
    expect(stage.health).toHaveLength(before + 1);
    expect(stage.health.at(-1)?.tick.steps.map(({ step }) => step)).toEqual(steps.slice(0, 4));
    expect(stage.health.at(-1)?.next.tickAt).toBeNull();
  });

  // @conforms 4.4
  it.each([
    [30_000, 5_000],
    [10_000, 2_000],
  ])('that hangs is waited for by a stop with %d ms for %d ms, and the agents for all of it', async (allMs, tickMs) => {
    let isSlow = false;
    const stage = await begun({
      isShared: true,
      settings: settings({ intervalMs: 1_000, agent: { shutdownTimeoutMs: allMs } }),
      through: (store) =>
        storeThrough(store, {
          before: (call) => (isSlow && call === 'commands.latestDone' ? new Promise(() => {}) : undefined),
        }),
    });
    isSlow = true;
    await stage.clock.advance(5_000);
    void stage.orchestrator.stop();
    await stage.clock.advance(tickMs - 1);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(1);
    expect(stage.runs[0]?.stops).toEqual(['shutdown']);
    await stage.clock.advance(allMs - 1);
    expect(stage.endedAtOnce).toEqual([]);
    await stage.clock.advance(1);
    expect(stage.endedAtOnce).toHaveLength(1);
  });

  // @conforms 1.8
  it('notifies watchers when it begins and ends; the health record comes before the last notice', async () => {
    const stage = await scene({ settings: settings({ intervalMs: hour }) });
    const seen: [number, number, boolean, number | null][] = [];
    stage.orchestrator.onChange(() => {
      const { polling } = stage.orchestrator.read();
      seen.push([polling.ticks, stage.health.length, polling.pollCheckInProgress, polling.nextPollDueAt]);
    });
    await stage.orchestrator.start();
    seen.length = 0;
    await stage.clock.advance(0);
    expect(seen[0]).toEqual([0, 0, true, expect.anything()]);
    expect(seen.find(([ticks]) => ticks === 1)).toEqual([1, 1, expect.anything(), expect.anything()]);
    expect(stage.orchestrator.read().polling).toMatchObject({ pollCheckInProgress: false, nextPollDueAt: hour });
  });

  it('runs one at a time, also when a watcher asks for another', async () => {
    const slow = gate();
    let recoveries = 0;
    const stage = await scene({
      isShared: true,
      through: (store) =>
        storeThrough(store, {
          before: async (call) => {
            if (call !== 'recovery') return;
            recoveries += 1;
            if (recoveries === 2) await slow.passed;
          },
        }),
    });
    let asked = 0;
    stage.orchestrator.onChange(() => {
      asked += 1;
      if (asked < 10) stage.orchestrator.refresh();
    });
    await stage.orchestrator.start();
    await stage.clock.advance(1_000);
    // The first was that of the start, the second belongs to a tick that is not over.
    expect(recoveries).toBe(2);
    slow.open();
    await stage.clock.advance(0);
    expect(recoveries).toBeGreaterThan(2);
  });

  // @conforms 4.23
  it('with a health record or watchers that throw is followed by the next', async () => {
    const stage = await begun();
    stage.health.push = () => {
      throw new Error('the disk is full');
    };
    await stage.clock.advance(300);
    expect(stage.orchestrator.read().polling.ticks).toBe(4);
    expect(stage.logger.events()).toContain('health_publish_failed');
  });

  // @conforms tick.1
  it('runs by the interval while a poll hangs', async () => {
    const stage = await begun();
    stage.tracker.fetchByStates = () => new Promise(() => {});
    await stage.clock.advance(10_000);
    expect(stage.orchestrator.read().polling).toMatchObject({ ticks: 101, pollCheckInProgress: true });
    expect(stage.health.at(-1)?.next).toMatchObject({ isPolling: true, tickAt: stage.clock.now() + 100 });
  });

  // @conforms tick.2, 4.1
  it('runs at least every five seconds with a local tracker', async () => {
    const stage = await begun({ isLocal: true, settings: settings({ intervalMs: hour }) });
    await stage.clock.advance(20_000);
    expect(stage.orchestrator.read().polling.ticks).toBe(5);
    const often = await begun({ isLocal: true, settings: settings({ intervalMs: 1_000 }) });
    await often.clock.advance(5_000);
    expect(often.orchestrator.read().polling.ticks).toBe(6);
  });

  // @conforms O22
  it('requested twice runs once', async () => {
    const stage = await begun({ settings: settings({ intervalMs: hour }) });
    stage.calls.length = 0;
    stage.orchestrator.refresh();
    stage.orchestrator.refresh();
    await stage.clock.advance(4_000);
    expect([stage.orchestrator.read().polling.ticks, stage.calls.length]).toEqual([2, 1]);
  });

  // @conforms O28
  it('reports when the next one is due, on the monotonic clock', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 50 }) });
    await stage.clock.advance(10);
    const { nextPollDueAt, pollCheckInProgress } = stage.orchestrator.read().polling;
    expect([nextPollDueAt, pollCheckInProgress]).toEqual([50, false]);
  });
});
