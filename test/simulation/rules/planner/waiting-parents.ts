import { stateClass, whyNotBatons } from '../../../../src/core/dispatch/eligibility.ts';
import { blockedState } from '../../planner/planner-plan.ts';
import type { World } from '../../world.ts';

/** The issues that wait for their parts although all of them are over: they have to return. */
export function waitingParents(world: World): string[] {
  const { book, file, memory } = world;
  const { tracker } = file.settings;
  if (world.plan.planner === null) return [];
  return book
    .all()
    .filter((issue) => {
      if (issue.state !== blockedState || whyNotBatons(issue, tracker) !== null) return false;
      if (memory.look('select 1 from plans where issue_id = ? and made_at is not null', issue.id).length === 0)
        return false;
      const parts = book.all().filter(({ parent }) => parent?.id === issue.id);
      return [...parts, ...issue.blockedBy].every(
        ({ state }) => state !== null && stateClass(state, tracker) === 'terminal',
      );
    })
    .map(({ id }) => id);
}

/** Whether the planner may not start on this issue: its plan is not written yet, or the budget is used up. */
export function waitsForPlan({ book, memory, plan, file }: World, id: string): boolean {
  if (plan.planner === null) return false;
  if (memory.look(unmade, id, id).length > 0) return true;
  const { runsPerDay } = plan.planner;
  const [used] = memory.look<{ count: number }>("select count(*) as count from runs where role = 'planner'");
  const isPlanned = memory.look('select 1 from plans where issue_id = ?', id).length > 0;
  const isLabelled = book.get(id)?.labels.includes(file.settings.planner.label) === true;
  return runsPerDay > 0 && (used?.count ?? 0) >= runsPerDay && isLabelled && !isPlanned;
}

const unmade = `select 1 from plans where made_at is null and (issue_id = ? or issue_id in
  (select parent_id from plan_children where plan_children.issue_id = ?))`;
