import { isAboutSlots, type SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { Claims } from '../claims/claims.ts';

export interface SkippedIssue {
  readonly issue: Issue;
  readonly reason: SkipReason;
}

/** Why the last decision did not start an issue, by issue id. An issue that starts is removed. */
export type SkippedIssues = Map<string, SkippedIssue>;

export function skippedIssues(claims: Claims): SkippedIssues {
  const skipped: SkippedIssues = new Map();
  claims.onChange(({ issueId, by }) => {
    if (by === 'begin') skipped.delete(issueId);
  });
  return skipped;
}

/** The first issues that start when slots are free again. */
export function waitingForSlot(skipped: SkippedIssues, count: number): string[] {
  return [...skipped.values()].flatMap(({ issue, reason }) => (isAboutSlots(reason) ? issue.id : [])).slice(0, count);
}
