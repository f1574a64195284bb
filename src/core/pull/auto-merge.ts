import type { JudgeState } from './judge.ts';
import { type ChecksVerdict, type PullRequest, standsInReview } from './pull-request.ts';

/*
 * Changes that Baton merges itself (`review.auto_merge`). What must hold at the moment of the merge:
 *
 * - The issue has one of the labels, is in review, and no one else has it.
 * - The judge or a person approved exactly this commit, and no reviewer asks for changes.
 * - All its checks passed. A change without checks is not merged.
 * - The base is where it was when this commit came into review.
 * - It changes no file that controls agents or CI.
 */

/** Why Baton does not merge such a change itself, in the order of the checks. */
export const autoMergeObjections = {
  not_in_review: 'it is not in review, or someone else has it',
  head_moved: 'its branch has moved',
  not_approved: 'no one approved this commit',
  changes_requested: 'a reviewer asks for changes',
  checks_not_green: 'its checks are not green',
  governing_files: 'it changes files that control agents or CI, or Baton could not read whether it does',
  base_moved: 'its base has moved',
} as const;

export type AutoMergeObjection = keyof typeof autoMergeObjections;

export interface AutoMergeFacts {
  /** As the store has it now. */
  readonly pull: PullRequest;
  /** Whether the issue is in review and free, as the tracker says now. */
  readonly isIssueReady: boolean;
  /** The commits at the host now; null: gone. */
  readonly head: string | null;
  readonly base: string | null;
  /** The base when the head came into review. */
  readonly reviewedBase: string | null;
  readonly judge: JudgeState | null;
  /**
   * Of reviewers at the host who may write to the repository. A request for changes stands until its author takes it back,
   * also when the head moves on. An approval of another commit is a `comment`: it takes a request back and approves nothing.
   */
  readonly reviews: readonly {
    readonly author: string;
    readonly verdict: 'approved' | 'changes_requested' | 'comment';
  }[];
  /** Of the head, of the file and of the host together. */
  readonly checks: ChecksVerdict;
  /** Files of the head that control agents or CI; null: unknown. */
  readonly governing: readonly string[] | null;
}

export function whyNotAutoMerged(facts: AutoMergeFacts): AutoMergeObjection | null {
  const { pull, judge, checks, governing } = facts;
  if (!standsInReview(pull) || !facts.isIssueReady) return 'not_in_review';
  if (facts.head !== pull.headCommit) return 'head_moved';
  // The last word of each reviewer counts.
  const last = [...new Map(facts.reviews.map((each) => [each.author, each.verdict])).values()];
  if (last.includes('changes_requested')) return 'changes_requested';
  const isByPerson = pull.approved?.commit === pull.headCommit || last.includes('approved');
  // A person who approves it overrules its judge.
  if (!isByPerson && judge?.status !== 'approved') return 'not_approved';
  if (checks !== 'green') return 'checks_not_green';
  if (governing === null || governing.length > 0) return 'governing_files';
  return facts.base === null || facts.base !== facts.reviewedBase ? 'base_moved' : null;
}

/** Whether an issue has a label for which Baton merges. */
export function isForAutoMerge(labels: readonly string[], wanted: readonly string[]): boolean {
  const has = new Set(labels.map((label) => label.trim().toLowerCase()));
  return wanted.some((label) => has.has(label.trim().toLowerCase()));
}
