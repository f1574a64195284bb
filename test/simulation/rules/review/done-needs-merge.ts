import { stateClass } from '../../../../src/core/dispatch/eligibility.ts';
import type { ReviewWorld } from '../../review/review-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** Baton finishes an issue only when a commit of it that stood in review is in the base. */
export function doneNeedsMerge(world: World, { repository, github }: ReviewWorld): Rule {
  world.book.onMove.add(({ id, to, by }) => {
    if (by === 'hand' || by.kind === 'run' || stateClass(to, world.file.settings.tracker) !== 'terminal') return;
    if (github !== null) {
      const numbers = world.memory.look<{ host_number: number }>(numbersOfIssue, id);
      if (!numbers.some(({ host_number }) => github.get(host_number)?.state === 'MERGED'))
        world.broke('done_needs_merge', id, `it is moved to "${to}" and GitHub has no merged pull request of it`);
      return;
    }
    const heads = world.memory.look<{ head_commit: string }>(headsOfIssue, id);
    if (!heads.some(({ head_commit }) => repository.observe(head_commit, repository.base, '') !== null))
      world.broke('done_needs_merge', id, `it is moved to "${to}" and no head of it is in the base`);
  });
  return {};
}

const numbersOfIssue = 'select host_number from pull_requests where issue_id = ?';

const headsOfIssue = `
  select pull_rounds.head_commit as head_commit from pull_rounds join pull_requests using (project, number)
    where issue_id = ?`;
