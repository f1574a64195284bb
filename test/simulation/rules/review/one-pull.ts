import type { ReviewWorld } from '../../review/review-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** An issue, and a branch, has at most one open pull request, in the store and on GitHub. No head is proposed twice there. */
export function onePull(world: World, { github }: ReviewWorld): Rule {
  github?.onOpened.add(({ number, branch, headOid }) => {
    const others = github.pulls.filter((pull) => pull.branch === branch && pull.number !== number);
    const second = others.find(({ state, headOid: other }) => state === 'OPEN' || other === headOid);
    if (second !== undefined)
      world.broke('one_pull', null, `${branch} has ${number} on GitHub, and ${second.number} is ${second.state}`);
  });
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
