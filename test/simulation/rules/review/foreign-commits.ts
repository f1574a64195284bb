import type { ReviewWorld } from '../../review/review-world.ts';
import type { RefMove } from '../../review/simulated-repository.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** Baton never takes a commit of a person from a branch, and moves the base only forward. */
export function foreignCommits(world: World, { repository, clone }: ReviewWorld): Rule {
  const check = ({ branch, maker, from, to }: RefMove): void => {
    if (maker === 'person' || from === null) return;
    if (maker === 'baton' && !repository.contains(to, from))
      world.broke('foreign_commits', null, `${branch} moves from ${from} to ${to}, which lacks it`);
    const kept = repository.history(to);
    const lost = [...repository.history(from)].filter((id) => !kept.has(id) && repository.get(id).maker === 'person');
    if (lost.length > 0)
      world.broke('foreign_commits', null, `${branch} moves from ${from} to ${to}, which lacks ${lost.join(', ')}`);
  };
  for (const each of new Set([repository, clone])) each.onMove.add(check);
  return {};
}
