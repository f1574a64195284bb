import type { ReviewWorld } from '../../review/review-world.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

interface CheckRow {
  readonly number: number;
  readonly commit_id: string;
  readonly name: string;
  readonly result: string;
}

const lookEveryMs = 5_000;

/**
 * The store has a check as passed only if it did, and no result changes but `skipped`, which is none. A change is merged without a person's word about its
 * checks only when every check that the settings want has passed on exactly this commit.
 */
export function honestChecks(world: World, review: ReviewWorld): Rule {
  const { repository, mergeWishes } = review;
  const results = new Map<string, string>();
  let nextLookAt = 0;
  repository.onMove.add(({ maker, head }) => {
    if (maker !== 'baton' || head === undefined) return;
    if (mergeWishes.some((wish) => wish.head === head && wish.ignoresChecks)) return;
    for (const { name } of world.file.settings.review.checks)
      if (review.knownResult(head, name) !== 'passed')
        world.broke('honest_checks', null, `${head} is merged, and ${name} is ${review.knownResult(head, name)}`);
  });
  return {
    afterStep: () => {
      if (world.now >= nextLookAt) {
        nextLookAt = world.now + lookEveryMs;
        checkShown(world, review);
      }
      if (!world.storeHasChanged) return;
      for (const { number, commit_id, name, result } of world.memory.look<CheckRow>(ended)) {
        const key = `${number} ${commit_id} ${name}`;
        const known = results.get(key);
        if (known !== undefined && known !== 'skipped' && known !== result)
          world.broke('honest_checks', null, `${name} on ${commit_id} was ${known} and is ${result}`);
        results.set(key, result);
        if (result === 'passed' && review.knownResult(commit_id, name) !== 'passed')
          world.broke(
            'honest_checks',
            null,
            `${name} on ${commit_id} is passed, in truth ${review.knownResult(commit_id, name)}`,
          );
      }
    },
  };
}

function checkShown(world: World, review: ReviewWorld): void {
  for (const { orchestrator } of world.running)
    for (const [issueId, { number, checks }] of orchestrator.read().pulls)
      if (checks === 'green' && !hasGreenHead(world, review, number))
        world.broke('honest_checks', issueId, `the checks of pull request ${number} are shown as green`);
}

/** Whether every check passed on a head that stands or stood there: a daemon may show what it read a moment ago. */
function hasGreenHead({ memory, file }: World, review: ReviewWorld, number: number): boolean {
  const heads = memory.look<{ head_commit: string }>('select head_commit from pull_rounds where number = ?', number);
  return heads.some(({ head_commit }) =>
    file.settings.review.checks.every(({ name }) => review.knownResult(head_commit, name) === 'passed'),
  );
}

const ended = 'select number, commit_id, name, result from checks where result is not null';
