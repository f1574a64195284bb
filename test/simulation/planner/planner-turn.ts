import type { World } from '../world.ts';
import type { PlannerPlan } from './planner-plan.ts';

export interface PlannerTurn {
  /** How often it calls `create_subtasks`, and with what; null: it does not. */
  readonly calls: number;
  readonly input: Record<string, unknown> | null;
  readonly crashes: boolean;
}

/** What a planner does in one turn. In calm weather it makes a good plan. */
export function drawPlannerTurn({ draw, isCalm }: World, plan: PlannerPlan): PlannerTurn {
  const chance = (share: number): boolean => draw.planner.chance(isCalm ? 0 : share);
  if (chance(plan.idle)) return { calls: 0, input: null, crashes: false };
  const bad = chance(plan.bad) ? draw.planner.pick(['one', 'many', 'circle'] as const) : null;
  const wanted = bad === null ? draw.planner.between(2, plan.maxChildren) : { one: 1, many: 40, circle: 3 }[bad];
  const count = chance(plan.small) ? 0 : wanted;
  const subtasks = Array.from({ length: count }, (_, index) => ({
    title: `part ${index + 1}`,
    description: 'A part.',
    blocked_by: blockersOf(index, bad === 'circle' ? count : null, (most) => draw.planner.between(0, most)),
    needs_planning: chance(plan.greedy),
  }));
  const calls = chance(plan.repeats) ? draw.planner.between(2, 5) : 1;
  return { calls, input: { summary: 'A plan.', subtasks }, crashes: chance(plan.crashes) };
}

/** One of the earlier ones, or none; in a circle each waits for the next one, and the last for the first. */
function blockersOf(index: number, circle: number | null, upTo: (most: number) => number): number[] {
  if (circle !== null) return [index + 2 > circle ? 1 : index + 2];
  const blocker = upTo(index);
  return blocker === 0 ? [] : [blocker];
}
