import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  budgetOf,
  type RoleBudget,
  type RoleRun,
  roleSpent,
  whyRoleBudget,
} from '../../../src/core/run/role-budget.ts';
import { settings } from '../../fake/settings.ts';
import { runs } from '../../property-runs.ts';

const day = 24 * 3_600_000;
const noon = 20_000 * day + day / 2;
const run = (changes: Partial<RoleRun> = {}): RoleRun => ({
  runId: 'r',
  role: 'judge',
  microUsd: 100_000,
  hasWorked: true,
  endedAt: noon,
  ...changes,
});

describe('the budget of a role', () => {
  it('is the section with its name; a role without one has none', () => {
    const all = settings();
    expect(budgetOf('worker', all)).toBeNull();
    expect(budgetOf('judge', all)).toBeNull();
    expect(budgetOf('judge', { ...all, judge: { ...all.judge, runsPerDay: 3, usdPerDay: 1.5 } })).toEqual({
      runsPerDay: 3,
      usdPerDay: 1.5,
    });
  });

  // The day counts what ended on it and what is in progress, as `limits.usd_per_day` does.
  it.each<[string, Partial<RoleRun>, number]>([
    ['a run that ended today', {}, 1],
    ['a run that ended in the first moment of the day', { endedAt: noon - day / 2 }, 1],
    ['a run in progress, whenever it began', { endedAt: null }, 1],
    ['no run that ended yesterday', { endedAt: noon - day / 2 - 1 }, 0],
    ['no run of another role', { role: 'worker' }, 0],
  ])('counts %s', (_, changes, counted) => {
    expect(roleSpent('judge', [run(changes)], noon).runs).toBe(counted);
  });

  const budget = (changes: Partial<RoleBudget>): RoleBudget => ({ runsPerDay: 0, usdPerDay: 0, ...changes });
  it.each<[string, readonly RoleRun[], RoleBudget | null, boolean]>([
    ['without one nothing is refused', [run()], null, false],
    ['one run of two', [run()], budget({ runsPerDay: 2 }), false],
    ['two runs of two', [run(), run({ endedAt: null })], budget({ runsPerDay: 2 }), true],
    ['a cent less than the money', [run({ microUsd: 990_000 })], budget({ usdPerDay: 1 }), false],
    ['exactly the money', [run({ microUsd: 1_000_000 })], budget({ usdPerDay: 1 }), true],
    ['a run without a known price fails closed', [run({ microUsd: 0 })], budget({ usdPerDay: 1 }), true],
    ['… but only where money is limited', [run({ microUsd: 0 })], budget({ runsPerDay: 9 }), false],
    [
      '… and a run in progress may still report',
      [run({ microUsd: 0, endedAt: null })],
      budget({ usdPerDay: 1 }),
      false,
    ],
    ['a run that did nothing cost nothing', [run({ microUsd: 0, hasWorked: false })], budget({ usdPerDay: 1 }), false],
  ])('%s', (_, spentBy, given, refused) => {
    const refusal = whyRoleBudget('judge', roleSpent('judge', spentBy, noon), given);
    expect(refusal?.code ?? null).toBe(refused ? 'role_budget' : null);
  });

  it('never lets more runs start on a day than it allows, however they end', () => {
    const steps = fc.array(fc.record({ start: fc.boolean(), endsAfter: fc.integer({ min: 0, max: 2 * day }) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 5 }), (drawn, runsPerDay) => {
        const known: RoleRun[] = [];
        const startsOn = new Map<number, number>();
        drawn.forEach(({ start, endsAfter }, index) => {
          const now = noon + index * (day / 8);
          const visible = known.map((each) =>
            each.endedAt !== null && each.endedAt > now ? { ...each, endedAt: null } : each,
          );
          const spent = roleSpent('judge', visible, now);
          if (!start || whyRoleBudget('judge', spent, budget({ runsPerDay })) !== null) return;
          known.push(run({ runId: `${index}`, endedAt: now + endsAfter }));
          const date = Math.floor(now / day);
          startsOn.set(date, (startsOn.get(date) ?? 0) + 1);
        });
        for (const count of startsOn.values()) expect(count).toBeLessThanOrEqual(runsPerDay);
      }),
      { numRuns: runs(200) },
    );
  });
});
