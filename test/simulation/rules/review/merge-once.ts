import type { ReviewWorld } from '../../review/review-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/**
 * Baton merges no change that is in the base already, whoever brought it there; and nothing that no person asked it to merge,
 * where it does not merge by itself.
 */
export function mergeOnce(world: World, { repository, mergeWishes, github, plan }: ReviewWorld): Rule {
  repository.onMove.add(({ maker, from, head }) => {
    if (maker !== 'baton' || from === null || head === undefined) return;
    world.tally('merged by Baton');
    // GitHub knows a change only by its commits.
    const isKnown = github === null || repository.contains(from, head);
    const before = isKnown ? repository.observe(head, from, null) : null;
    if (before !== null) world.broke('merge_once', null, `${head} is merged and was in the base with ${before.commit}`);
    if (plan.autoMerge === null && !mergeWishes.some((wish) => wish.head === head))
      world.broke('merge_once', null, `${head} is merged and nobody asked for that`);
  });
  return {};
}
