import { largestSkewMs } from '../../keeper.ts';
import type { PlannerPlan } from '../../planner/planner-plan.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

interface Row {
  readonly issue_id: string;
  readonly depth: number;
  readonly children: number;
}

/** The number and the depth of plans, and the runs of planners on a day, are bounded by the settings, whatever agents do. */
export function planBounds(world: World): Rule {
  const { planner: plan } = world.plan;
  let started = 0;
  return {
    runStarted: ({ role, issueId, runId }) => {
      // The world begins at midnight: by the clock of another daemon it may still be the day before.
      if (role !== 'planner' || plan === null || world.now <= largestSkewMs) return;
      started += 1;
      // A wall clock that was set may have begun another day.
      if (plan.runsPerDay > 0 && started > plan.runsPerDay && !Number.isFinite(world.wallJumpedAt))
        world.broke('plan_bounds', issueId, `run ${runId} is number ${started} of ${plan.runsPerDay} planners today`);
    },
    afterStep: () => {
      if (plan !== null && world.storeHasChanged) compare(world, plan);
    },
  };
}

function compare(world: World, { maxChildren, maxDepth }: PlannerPlan): void {
  for (const { issue_id, depth, children } of world.memory.look<Row>(plans)) {
    if (depth > maxDepth) world.broke('plan_bounds', issue_id, `its plan is ${depth} deep, and ${maxDepth} is allowed`);
    if (children > maxChildren)
      world.broke('plan_bounds', issue_id, `its plan has ${children} parts, and ${maxChildren} are allowed`);
  }
}

const plans = `select plans.issue_id, depth, (select count(*) from plan_children
  where plan_children.project = plans.project and plan_children.parent_id = plans.issue_id) as children from plans`;
