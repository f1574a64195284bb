import type { PlannerPlan } from '../../planner/planner-plan.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

interface Row {
  readonly issue_id: string;
  readonly depth: number;
  readonly children: number;
}

/** The number and the depth of plans are bounded by the settings, whatever agents do. `role_budgets` bounds the runs. */
export function planBounds(world: World): Rule {
  const { planner: plan } = world.plan;
  return {
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
