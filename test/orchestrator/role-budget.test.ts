import { describe, expect, it } from 'vitest';
import type { RoleBudget } from '../../src/core/run/role-budget.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { begun, besides, pair, type Scene, scene, spend } from './scene.ts';

const minute = 60_000;
const issues = ['1', '2', '3'].map((id) => issue({ id }));

/** A section with the name of a role is its budget, so workers can have one in a test. */
const withBudget = (budget: Partial<RoleBudget>) => ({
  ...settings({ intervalMs: 5_000, agent: { maxRetries: 0, stallTimeoutMs: 0 }, limits: { runWallTimeMs: 0 } }),
  worker: { runsPerDay: 0, usdPerDay: 0, ...budget },
});
const skipped = ({ orchestrator }: Scene) => orchestrator.read().skipped.map(({ reason }) => reason.code);

describe('the budget of a role', () => {
  // @conforms limits.28
  it('on runs refuses the next start, says so in the explanation and the status, and allows it on the next day', async () => {
    const clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 23, 30) });
    const stage = await begun({ clock, issues, settings: withBudget({ runsPerDay: 2 }) });
    expect(stage.started()).toEqual(['1', '2']);
    await stage.clock.advance(2_000);
    expect(skipped(stage)).toEqual(['role_budget']);
    expect((await stage.orchestrator.explain('T-3')).reason).toMatchObject({ code: 'role_budget' });
    expect(stage.orchestrator.read().today.roles).toMatchObject([{ role: 'worker', runs: 2, isUsedUp: true }]);
    stage.runs[0]?.fail();
    await stage.clock.advance(10 * minute);
    expect(stage.started()).toEqual(['1', '2']);
    // The second run is still in progress, so it counts on the next day too.
    await stage.clock.advance(31 * minute);
    expect(stage.started()).toHaveLength(3);
  });

  // @conforms limits.29
  it('on money interrupts its runs at the limit, and they wait for the next day', async () => {
    const clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 23, 30) });
    const stage = await begun({ clock, issues: issues.slice(0, 1), settings: withBudget({ usdPerDay: 1 }) });
    spend(stage.runs[0], 10, 999_999);
    expect(stage.runs[0]?.stops).toEqual([]);
    spend(stage.runs[0], 10, 1_000_000);
    expect(stage.runs[0]?.stops).toEqual(['role_budget_reached']);
    stage.runs[0]?.end();
    await stage.clock.advance(10 * minute);
    expect(stage.started()).toHaveLength(1);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ waitCode: 'role_budget' }]);
    await stage.clock.advance(31 * minute);
    expect(stage.started()).toHaveLength(2);
  });

  // @conforms limits.29
  it('on money fails closed after a run without a known price', async () => {
    const stage = await begun({
      issues,
      settings: { ...withBudget({ usdPerDay: 1 }), agent: { ...withBudget({}).agent, maxConcurrentAgents: 1 } },
    });
    spend(stage.runs[0], 500);
    stage.runs[0]?.succeed();
    await stage.clock.advance(10_000);
    expect(stage.started()).toEqual(['1']);
    expect(skipped(stage)).toEqual(['role_budget', 'role_budget']);
  });

  // @conforms limits.28
  it('survives a restart', async () => {
    const first = await begun({ issues: issues.slice(0, 1), settings: withBudget({ runsPerDay: 1 }) });
    first.runs[0]?.fail();
    await first.clock.advance(0);
    await first.orchestrator.stop();
    const stage = await begun({
      store: first.store,
      clock: first.clock,
      issues: issues.slice(1),
      settings: withBudget({ runsPerDay: 1 }),
    });
    await stage.clock.advance(5_000);
    expect(stage.started()).toEqual([]);
  });

  // @conforms limits.28
  it('holds for two daemons that decide at the same time', async () => {
    const mine = (id: string) => ({
      issues,
      settings: withBudget({ runsPerDay: 1 }),
      trial: { only: [id], maxRuns: null },
    });
    const one = await scene({ ...mine('1'), owner: 'one', isShared: true });
    const other = await besides(one, mine('2'));
    await Promise.all([one.orchestrator.start(), other.orchestrator.start()]);
    await one.clock.advance(5_000);
    expect([...one.started(), ...other.started()]).toHaveLength(1);
    const [late] = await pair({ ...mine('3'), store: one.store, clock: one.clock });
    await late.orchestrator.start();
    await one.clock.advance(5_000);
    expect(late.started()).toEqual([]);
  });
});
