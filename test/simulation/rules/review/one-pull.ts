import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** An issue, and a branch, has at most one open pull request. */
export function onePull(world: World): Rule {
  return {
    afterStep: () => {
      if (!world.storeHasChanged) return;
      for (const { branch, numbers } of world.memory.look<{ branch: string; numbers: string }>(doubled))
        world.broke('one_pull', null, `${branch} has the open pull requests ${numbers}`);
    },
  };
}

const doubled = `
  select branch, group_concat(number) as numbers from pull_requests where merged_at is null and closed_at is null
    group by branch having count(*) > 1
  union all
  select issue_id, group_concat(number) from pull_requests where merged_at is null and closed_at is null
    group by issue_id having count(*) > 1`;
