import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { Claims } from '../claims/claims.ts';

export interface SkippedIssue {
  readonly issue: Issue;
  readonly reason: SkipReason;
}

/** Why issues that the last decision was about were not started, by issue id; one that starts leaves it. */
export type SkippedIssues = Map<string, SkippedIssue>;

export function skippedIssues(claims: Claims): SkippedIssues {
  const skipped: SkippedIssues = new Map();
  claims.onChange(({ issueId, by }) => {
    if (by === 'begin') skipped.delete(issueId);
  });
  return skipped;
}
