import { autoMergeLabel } from '../../review/review-plan.ts';
import type { ReviewWorld } from '../../review/review-world.ts';
import { baseBranch } from '../../review/simulated-repository.ts';
import type { World } from '../../world.ts';
import { knowledgeLagMs } from '../knowledge-lag.ts';
import type { Rule } from '../rule.ts';

interface PullRow {
  readonly number: number;
  readonly issue_id: string;
  readonly reviewed_base: string | null;
  readonly approved: number;
}

const lookEveryMs = 2_000;

/**
 * Baton merges by itself only the change of an issue in review that has the label, whose commit is approved, whose checks are
 * all green, and whose base is where it was when the commit came into review; and each commit once.
 */
export function autoMerge(world: World, review: ReviewWorld): Rule {
  const { repository, mergeWishes, github, plan } = review;
  const merged = new Set<string>();
  /** When each issue last had the label, and was last in review. */
  const [labelledAt, inReviewAt] = [new Map<string, number>(), new Map<string, number>()];
  let nextLookAt = 0;
  const look = (): void => {
    for (const { id, labels, state } of world.book.all()) {
      if (labels.includes(autoMergeLabel)) labelledAt.set(id, world.now);
      if (state === 'Review') inReviewAt.set(id, world.now);
    }
  };
  const whyNot = (pull: PullRow | undefined, head: string): string | null => {
    // Its read of the tracker may be a moment old.
    const isLate = (seen: ReadonlyMap<string, number>): boolean =>
      world.now - (seen.get(pull?.issue_id ?? '') ?? Number.NEGATIVE_INFINITY) > knowledgeLagMs(world);
    if (isLate(labelledAt)) return 'its issue has no such label';
    if (isLate(inReviewAt)) return 'its issue is not in review';
    if (pull?.approved === 0 && !isApprovedAtHost(review, head)) return 'no one approved it';
    return areGreen(world, review, head) ? null : 'its checks are not green';
  };
  /** When the base moved last, and when before that. */
  let [movedAt, movedBeforeAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  repository.onMove.add(({ branch, maker, from, head }) => {
    if (branch === baseBranch) [movedAt, movedBeforeAt] = [world.now, movedAt];
    if (plan.autoMerge === null || maker !== 'baton' || from === null || head === undefined) return;
    if (mergeWishes.some((wish) => wish.head === head)) return;
    world.tally('merged by itself');
    const [pull] = world.memory.look<PullRow>(ofHead, head);
    const why = pull === undefined ? 'it is not in review' : merged.has(head) ? 'was merged before' : null;
    merged.add(head);
    look();
    // GitHub compares the branch only; Baton reads the base a moment before.
    const isJustMoved = github !== null && world.now - movedBeforeAt < knowledgeLagMs(world);
    const isMoved = from !== pull?.reviewed_base && !isJustMoved;
    const found = why ?? (isMoved ? `its base has moved to ${from}` : whyNot(pull, head));
    if (found !== null) world.broke('auto_merge', pull?.issue_id ?? null, `${head} is merged by itself, and ${found}`);
  });
  return {
    afterStep: () => {
      if (plan.autoMerge === null || world.now < nextLookAt) return;
      nextLookAt = world.now + lookEveryMs;
      look();
    },
  };
}

function isApprovedAtHost({ github }: ReviewWorld, head: string): boolean {
  const reviews = github?.pulls.flatMap((pull) => pull.reviews) ?? [];
  return reviews.some(({ canPush, state, commit }) => canPush && state === 'APPROVED' && commit === head);
}

function areGreen({ file }: World, review: ReviewWorld, head: string): boolean {
  const own = file.settings.review.checks.map(({ name }) => review.knownResult(head, name) ?? null);
  const ofHost = (review.github?.checks.get(head) ?? []).map(({ result }) => result);
  const all = [...own, ...ofHost];
  return all.length > 0 && all.every((result) => result === 'passed');
}

const ofHead = `
  select pull.number as number, issue_id,
    (select base_commit from pull_rounds as stood where stood.project = pull.project and stood.number = pull.number
      and stood.head_commit = pull.head_commit order by stood.round desc limit 1) as reviewed_base,
    (approved_commit is pull.head_commit) + exists (select 1 from verdicts where verdicts.project = pull.project
      and verdicts.number = pull.number and commit_id = pull.head_commit and verdict = 'approved') as approved
  from pull_requests as pull where pull.head_commit = ? and merged_at is null and closed_at is null`;
