import type { Issue } from '../issue/issue.ts';
import { isJudge, type Role } from '../run/role.ts';
import type { AgentSettings } from '../settings.ts';
import type { SkipReason } from './eligibility.ts';
import type { OutsideGate } from './gates.ts';

/** Issues that have begun and are not finished. */
export interface UnfinishedWork {
  /** How many issues wait for a person's review; null: not counted yet. */
  readonly inReview: number | null;
  /** The ids of the issues that are claimed, here and by other daemons. */
  readonly claimed: ReadonlySet<string>;
}

type BackpressureSettings = Pick<AgentSettings, 'maxInReview' | 'maxClaimed'>;

/**
 * Nothing new begins while people, or Baton itself, have enough unfinished work. What must hold:
 *
 * - The gates refuse new claims only. A claimed issue continues, however much work is unfinished, and so does a judge: it
 *   finishes what is in review.
 * - One decision never makes more claims than the limit allows: earlier starts of the same decision count.
 * - A limit of 0 means no limit.
 * - An unknown count is treated as full: Baton must not spend money before it has checked the limit.
 */
export function backpressureGates(
  { inReview, claimed }: UnfinishedWork,
  { maxInReview, maxClaimed }: BackpressureSettings,
  roleOf: (issue: Issue) => Role = () => 'worker',
): { readonly review_limit: OutsideGate; readonly claim_limit: OutsideGate } {
  const tooMuchReview = whyTooManyInReview(inReview, maxInReview);
  const isBegun = (issue: Issue): boolean => claimed.has(issue.id) || isJudge(roleOf(issue));
  return {
    review_limit: {
      refuse: (issue) => (isBegun(issue) ? null : tooMuchReview),
      passed: (issue) =>
        passedText(isBegun(issue), maxInReview, 'agent.max_in_review', () => inReviewText(inReview ?? 0)),
    },
    claim_limit: {
      refuse: (issue, startsBefore) =>
        isBegun(issue) ? null : whyTooManyClaimed(claimed.size, startsBefore, maxClaimed),
      passed: (issue, startsBefore) =>
        passedText(isBegun(issue), maxClaimed, 'agent.max_claimed', () => claimedText(claimed.size, startsBefore)),
    },
  };
}

function whyTooManyInReview(inReview: number | null, limit: number): SkipReason | null {
  if (limit <= 0 || (inReview !== null && inReview < limit)) return null;
  const what = inReview === null ? 'the issues in review are not counted yet' : inReviewText(inReview);
  return { code: 'max_in_review', text: `${what}; agent.max_in_review is ${limit}` };
}

/** `startsBefore` issues of the same decision are claimed before this one. */
export function whyTooManyClaimed(claimed: number, startsBefore: number, limit: number): SkipReason | null {
  if (limit <= 0 || claimed + startsBefore < limit) return null;
  return { code: 'max_claimed', text: `${claimedText(claimed, startsBefore)}; agent.max_claimed is ${limit}` };
}

function passedText(isBegun: boolean, limit: number, setting: string, amount: () => string): string {
  if (limit <= 0) return `${setting} sets no limit`;
  return isBegun ? 'work on it has begun and continues' : `${amount()}; ${setting} is ${limit}`;
}

function inReviewText(count: number): string {
  return count === 1 ? '1 issue waits for review' : `${count} issues wait for review`;
}

function claimedText(claimed: number, startsBefore: number): string {
  const now = claimed === 1 ? '1 issue is claimed' : `${claimed} issues are claimed`;
  return startsBefore === 0 ? now : `${now} and ${startsBefore} ${startsBefore === 1 ? 'starts' : 'start'} before it`;
}
