import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/**
 * An issue is planned once: no planner starts on an issue whose plan is made, and no part starts before the whole plan is
 * in the tracker. Each part that the tracker has is in a plan.
 */
export function planOnce(world: World): Rule {
  return {
    runStarted: ({ runId, issueId, role }) => {
      if (role === 'planner' && world.memory.look(made, issueId).length > 0)
        world.broke('plan_once', issueId, `run ${runId} plans it again`);
      if (world.memory.look(unmade, issueId).length > 0)
        world.broke('plan_once', issueId, `run ${runId} starts before its plan is in the tracker`);
    },
    atEnd: () => {
      for (const { id, parent } of world.book.all())
        if (parent != null && world.memory.look('select 1 from plan_children where issue_id = ?', id).length === 0)
          world.broke('plan_once', id, 'it is part of no plan');
    },
  };
}

const made = 'select 1 from plans where issue_id = ? and made_at is not null';
const unmade = `select 1 from plan_children join plans on plans.project = plan_children.project
  and plans.issue_id = plan_children.parent_id where plan_children.issue_id = ? and plans.made_at is null`;
