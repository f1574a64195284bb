// @module-tag full
import { describe, expect, it } from 'vitest';
import type { RuleName } from './broken-rule.ts';
import type { Plan } from './plan.ts';
import type { PlannerPlan } from './planner/planner-plan.ts';
import { changed, changedStore, inQuietWorld } from './quiet-world.ts';
import type { Sabotage } from './sabotage.ts';

const calm: PlannerPlan = {
  labelled: 1,
  maxChildren: 3,
  maxDepth: 1,
  runsPerDay: 0,
  idle: 0,
  small: 0,
  bad: 0,
  greedy: 0,
  repeats: 0,
  crashes: 0,
};

/** As in `rules.test.ts`, in a world with a planner. */
describe('A rule of the planner notices', { timeout: 120_000 }, () => {
  // @conforms planner.5
  it('nothing when planners propose without end, and much is split, repeated and refused', async () => {
    const hostile = { maxDepth: 2, idle: 0.2, small: 0.2, bad: 0.3, greedy: 1, repeats: 0.8, crashes: 0.3 };
    const { broken, counts } = await withPlanner({}, hostile, { issues: 20 });
    expect(broken).toBeNull();
    for (const what of ['part made', 'planner: plans', 'planner: says nothing'])
      expect([what, counts.get(what) ?? 0]).not.toEqual([what, 0]);
    // 20 issues of people, each split into 3, and each part into 3 more.
    expect(counts.get('part made')).toBeLessThanOrEqual(20 * (3 + 9));
  });

  it('a plan with more parts than the file allows', async () => {
    const generous = settingsWith({ maxChildren: 50 });
    expect(await isBroken('plan_bounds', generous, { bad: 1, maxChildren: 2 })).toBe(true);
  });

  it('plans that are deeper than the file allows', async () => {
    const shallow = changedStore((tables) => ({
      ...tables,
      plans: { ...tables.plans, add: (key, plan) => tables.plans.add(key, { ...plan, depth: plan.depth + 1 }) },
    }));
    expect(await isBroken('plan_bounds', { parts: shallow })).toBe(true);
  });

  it('more runs of planners than the budget of the day', async () => {
    expect(await isBroken('role_budgets', settingsWith({ runsPerDay: 0 }), { runsPerDay: 1 })).toBe(true);
  });

  it('an issue that is planned again', async () => {
    const forgetful = changedStore((tables) => ({
      ...tables,
      plans: {
        ...tables.plans,
        facts: async () => new Map(),
        factsOf: async (key) => {
          const facts = await tables.plans.factsOf(key);
          return { ...facts, plan: null };
        },
      },
    }));
    const returning: Sabotage = {
      parts: forgetful,
      afterStep: ({ book, memory }) => {
        memory.look('update plans set made_at = 1 where made_at is null returning issue_id');
        for (const { id, state } of book.all()) if (state === 'Blocked') book.move(id, 'In Progress', 'hand');
      },
    };
    expect(await isBroken('plan_once', returning)).toBe(true);
  });

  it('a part that starts before its plan is in the tracker', async () => {
    const hasty = changedStore((tables) => ({
      ...tables,
      plans: { ...tables.plans, facts: async () => new Map(), made: async () => {} },
    }));
    const blind: Sabotage = {
      parts: (parts, world, incarnation) =>
        hasty(
          settingsWith({ enabled: false, isAfterPlan: true }).parts?.(parts, world, incarnation) ?? parts,
          world,
          incarnation,
        ),
    };
    expect(await isBroken('plan_once', blind)).toBe(true);
  });

  it('an issue that does not return when its parts are over', async () => {
    const lost: Sabotage = {
      parts: changed(({ trackerFor }) => ({
        trackerFor: (settings) => {
          const { fetchChildren: _, ...tracker } = trackerFor(settings);
          return {
            ...tracker,
            fetchByStates: async (states, ask) =>
              (await tracker.fetchByStates(states, ask)).filter(({ state }) => state !== 'Blocked'),
          };
        },
      })),
    };
    expect(await isBroken('issues_finish', lost)).toBe(true);
  });
});

/** The daemon reads other settings of the planner than the world's. */
function settingsWith(more: {
  maxChildren?: number;
  runsPerDay?: number;
  enabled?: boolean;
  isAfterPlan?: boolean;
}): Sabotage {
  const { isAfterPlan = false, ...planner } = more;
  return {
    parts: (parts, world) => ({
      ...parts,
      source: {
        read: () => {
          const { workflow, problem } = parts.source.read();
          const isOff = isAfterPlan && world.memory.look('select 1 from plan_children').length === 0;
          const settings = isOff
            ? workflow.settings
            : { ...workflow.settings, planner: { ...workflow.settings.planner, ...planner } };
          return { workflow: { ...workflow, settings }, problem };
        },
      },
    }),
  };
}

function withPlanner(sabotage: Sabotage, planner: Partial<PlannerPlan>, plan: Partial<Plan> = {}, only?: RuleName) {
  return inQuietWorld(sabotage, { stormMs: 30 * 60_000, ...plan, planner: { ...calm, ...planner } }, only);
}

async function isBroken(rule: RuleName, sabotage: Sabotage, planner: Partial<PlannerPlan> = {}): Promise<boolean> {
  return (await withPlanner(sabotage, planner, {}, rule)).broken?.rule === rule;
}
