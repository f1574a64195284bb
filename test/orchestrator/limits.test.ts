import { describe, expect, it } from 'vitest';
import type { LimitSettings } from '../../src/core/settings.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { telling } from '../telling.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, gate, type Scene, spend } from './scene.ts';

const hour = 3_600_000;
const limited = (limits: Partial<LimitSettings>, intervalMs = 100) => settings({ intervalMs, limits });
const warnings = ({ logger }: Scene) => logger.lines.filter(({ event }) => event === 'limit_near');

describe('a limit of an issue', () => {
  // @conforms limits.10
  it('on tokens warns once at four fifths, stops the run at the limit, and holds the issue with the command', async () => {
    const stage = await begun({ settings: limited({ tokensPerIssue: 1_000 }) });
    spend(stage.runs[0], 799);
    expect(warnings(stage)).toEqual([]);
    for (const tokens of [800, 850, 999]) spend(stage.runs[0], tokens);
    await stage.clock.advance(1_000);
    expect(warnings(stage)).toHaveLength(1);
    expect(stage.orchestrator.read().running[0]?.warnings).toMatchObject([{ level: 'warning' }]);
    spend(stage.runs[0], 1_000);
    expect(stage.runs[0]?.stops).toEqual(['limit_reached']);
    stage.runs[0]?.end();
    await stage.clock.advance(60_000);
    expect(stage.started()).toEqual(['1']);
    expect(stage.orchestrator.read().held).toMatchObject([
      {
        code: 'limit_reached',
        reason: telling('1,000', 'limits.tokens_per_issue', 'baton issue retry T-1'),
      },
    ]);
  });

  it('on money applies to the run in progress and over a restart, with the cost that the agent reports', async () => {
    const stage = await begun({ settings: limited({ usdPerIssue: 2 }) });
    spend(stage.runs[0], 10, 1_500_000);
    stage.runs[0]?.fail();
    await stage.clock.advance(12_000);
    expect(stage.runs).toHaveLength(2);
    spend(stage.runs[1], 10, 499_999);
    expect(stage.runs[1]?.stops).toEqual([]);
    spend(stage.runs[1], 10, 500_000);
    expect(stage.runs[1]?.stops).toEqual(['limit_reached']);
  });

  it('on the money of a day interrupts every run', async () => {
    const stage = await begun({
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: limited({ usdPerDay: 1 }),
    });
    spend(stage.runs[0], 10, 600_000);
    spend(stage.runs[1], 10, 400_000);
    expect(stage.runs.map(({ stops }) => stops)).toEqual([['day_limit_reached'], ['day_limit_reached']]);
  });

  it('applies before a start too, over a restart, and a retry by a person gives a new allowance', async () => {
    const options = { settings: limited({ tokensPerIssue: 1_000 }) };
    const first = await begun({ settings: limited({ tokensPerIssue: 0 }) });
    spend(first.runs[0], 5_000);
    first.runs[0]?.fail();
    await first.clock.advance(0);
    await first.orchestrator.stop();
    const stage = await begun({ ...options, store: first.store, clock: first.clock });
    await stage.clock.advance(60_000);
    expect(stage.started()).toEqual([]);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'limit_reached', runId: null }]);
    expect(await stage.command('issue_retry', { issue: 'T-1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['1']);
    spend(stage.runs[0], 500);
    expect(stage.runs[0]?.stops).toEqual([]);
  });

  it('on runs lets the last one finish and refuses the next', async () => {
    const stage = await begun({ settings: limited({ runsPerIssue: 2 }), play: (run) => run.succeed() });
    await stage.clock.advance(10_000);
    expect(stage.started()).toEqual(['1', '1']);
    expect(stage.orchestrator.read().held).toMatchObject([
      { code: 'limit_reached', reason: telling(2, 'limits.runs_per_issue') },
    ]);
  });

  // @conforms 4.50
  it('on runs bounds an issue whose runs end well without a work product; their waits grow', async () => {
    const stage = await begun({
      settings: settings({ intervalMs: hour, limits: { runsPerIssue: 3 }, agent: { maxStaleRuns: 0 } }),
      play: (run) => {
        run.request.report({ kind: 'changed', changed: false, facts: null, committed: false });
        run.succeed();
      },
    });
    await stage.clock.advance(5_000);
    expect(stage.runs).toHaveLength(2);
    await stage.clock.advance(20_000);
    expect(stage.runs).toHaveLength(3);
    await stage.clock.advance(2 * hour);
    expect(stage.runs).toHaveLength(3);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'limit_reached' }]);
  });

  it('on the time of a run is checked between two rare ticks', async () => {
    const stage = await begun({ settings: limited({ runWallTimeMs: 60_000 }, hour) });
    await stage.clock.advance(59_999);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(5_001);
    expect(stage.runs[0]?.stops).toEqual(['limit_reached']);
  });

  it('on the time of all runs counts the earlier ones', async () => {
    const stage = await begun({ settings: limited({ issueWallTimeMs: 100_000 }) });
    await stage.clock.advance(60_000);
    stage.runs[0]?.succeed();
    await stage.clock.advance(1_000);
    await stage.clock.advance(39_000);
    expect(stage.runs[1]?.stops).toEqual([]);
    await stage.clock.advance(5_000);
    expect(stage.runs[1]?.stops).toEqual(['limit_reached']);
  });

  it('of zero is off', async () => {
    const none = { runsPerIssue: 0, tokensPerIssue: 0, runWallTimeMs: 0, issueWallTimeMs: 0, tokensPerDay: 0 };
    const stage = await begun({
      settings: settings({ intervalMs: hour, limits: none, agent: { maxRetries: 0, stallTimeoutMs: 0 } }),
    });
    spend(stage.runs[0], 1e12);
    await stage.clock.advance(5 * hour);
    expect(stage.runs[0]?.stops).toEqual([]);
    for (let failures = 0; failures < 5; failures += 1) {
      stage.runs.at(-1)?.fail();
      await stage.clock.advance(400_000);
    }
    expect(stage.runs).toHaveLength(6);
  });
});

describe('failures and runs without progress', () => {
  it('hold an issue after max_retries failures in a row, over a restart', async () => {
    const first = await begun();
    first.runs[0]?.fail();
    await first.clock.advance(11_100);
    first.runs[1]?.fail();
    await first.clock.advance(0);
    await first.orchestrator.stop();
    const stage = await begun({ store: first.store, clock: first.clock });
    await stage.clock.advance(22_100);
    expect(stage.runs[0]?.request).toMatchObject({ attempt: 2, retryKind: 'failure' });
    stage.runs[0]?.fail();
    await stage.clock.advance(60_000);
    expect(stage.started()).toEqual(['1']);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'retries_exhausted' }]);
  });

  it('are reset by a successful run; continuations and interruptions never count', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 5_000, agent: { maxRetries: 2 } }) });
    for (let round = 0; round < 4; round += 1) {
      stage.runs.at(-1)?.fail();
      await stage.clock.advance(11_100);
      stage.runs.at(-1)?.succeed();
      await stage.clock.advance(1_100);
    }
    expect(stage.runs).toHaveLength(9);
    expect(stage.orchestrator.read().held).toEqual([]);
  });

  it('hold an issue whose runs succeed without changes, and one change resets the count', async () => {
    const changes = [false, false, true, false, false, false];
    const stage = await begun({
      play: (run) => {
        run.request.report({ kind: 'changed', changed: changes.shift() ?? true, facts: null });
        run.succeed();
      },
    });
    await stage.clock.advance(200_000);
    expect(stage.runs).toHaveLength(6);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'no_progress' }]);
  });
});

describe('the limit of the day', () => {
  const atLimit = async (intervalMs = 100) => {
    const stage = await begun({
      clock: new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 23, 50) }),
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: limited({ tokensPerDay: 1_000 }, intervalMs),
    });
    spend(stage.runs[0], 600);
    spend(stage.runs[1], 400);
    return stage;
  };

  // @conforms limits.11
  it('interrupts every run, raises no counter, and starts nothing until midnight UTC', async () => {
    const stage = await atLimit(60_000);
    expect(stage.runs.map(({ stops }) => stops)).toEqual([['day_limit_reached'], ['day_limit_reached']]);
    for (const run of stage.runs) run.end();
    await stage.clock.advance(9 * 60_000);
    expect(stage.runs).toHaveLength(2);
    expect(stage.orchestrator.read().retrying.map(({ kind, waitCode }) => [kind, waitCode])).toEqual([
      ['interrupted', 'day_limit'],
      ['interrupted', 'day_limit'],
    ]);
    await stage.clock.advance(125_000);
    expect(stage.runs.slice(2).map(({ request }) => [request.attempt, request.retryKind])).toEqual([
      [null, 'interrupted'],
      [null, 'interrupted'],
    ]);
  });

  it('ends at midnight, however rare the ticks are', async () => {
    const stage = await atLimit(6 * hour);
    for (const run of stage.runs) run.end();
    await stage.clock.advance(60_000);
    stage.orchestrator.refresh();
    await stage.clock.advance(9 * 60_000 - 1_000);
    expect(stage.runs).toHaveLength(2);
    await stage.clock.advance(10_000);
    expect(stage.runs).toHaveLength(4);
  });

  it('is lifted by resume with another allowance, which has a limit too', async () => {
    const stage = await atLimit();
    for (const run of stage.runs) run.end();
    await stage.clock.advance(2_000);
    expect(await stage.command('resume')).toMatchObject({ status: 'done', code: 'resumed_with_allowance' });
    await stage.clock.advance(2_000);
    expect(stage.runs).toHaveLength(4);
    spend(stage.runs[2], 999);
    expect(stage.runs[2]?.stops).toEqual([]);
    spend(stage.runs[2], 1_000);
    expect(stage.runs[2]?.stops).toEqual(['day_limit_reached']);
  });

  it('is lifted by a resume before the interrupted runs have ended', async () => {
    const stage = await atLimit();
    expect(await stage.command('resume')).toMatchObject({ status: 'done', code: 'resumed_with_allowance' });
    for (const run of stage.runs) run.end();
    await stage.clock.advance(10_000);
    expect(stage.runs).toHaveLength(4);
  });

  it('counts the usage of every daemon of the project', async () => {
    const stage = await atLimit();
    for (const run of stage.runs) run.end();
    await stage.clock.advance(0);
    await stage.orchestrator.stop();
    const other = await begun({
      store: stage.store,
      clock: stage.clock,
      tracker: stage.tracker,
      owner: 'other',
      isShared: true,
      settings: limited({ tokensPerDay: 1_000 }),
    });
    await other.clock.advance(10_000);
    expect(other.started()).toEqual([]);
  });

  it('counts a run once while the answer about its end is in flight', async () => {
    const slow = gate();
    let isSlow = false;
    const stage = await begun({
      isShared: true,
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: limited({ tokensPerDay: 1_000 }),
      through: (store) =>
        storeThrough(store, {
          after: async (call) => {
            if (!isSlow || call !== 'transaction') return;
            isSlow = false;
            await slow.passed;
          },
        }),
    });
    spend(stage.runs[0], 600);
    await stage.clock.advance(300);
    isSlow = true;
    stage.runs[0]?.fail();
    await stage.clock.advance(1_000);
    expect(stage.runs[1]?.stops).toEqual([]);
    slow.open();
  });

  it('is not affected by an issue with the name of its counters', async () => {
    const stage = await begun({
      issues: [issue({ id: '@day' })],
      settings: settings({ intervalMs: 100, limits: { tokensPerDay: 1_000, runsPerIssue: 2 } }),
    });
    spend(stage.runs[0], 1_000);
    stage.runs[0]?.end();
    await stage.clock.advance(2_000);
    await stage.command('resume');
    await stage.clock.advance(2_000);
    expect(stage.runs).toHaveLength(2);
    stage.runs[1]?.succeed();
    await stage.clock.advance(2_000);
    // It still has had two runs, whatever the day was allowed.
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'limit_reached' }]);
    expect(await stage.command('issue_retry', { issue: '@day' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(6_000);
    // And the day still has its allowance, whatever the issue was allowed.
    expect(stage.runs).toHaveLength(3);
  });
});
