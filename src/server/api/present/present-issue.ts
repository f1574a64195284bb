import type { IssueDetail, IssueSummary } from '../../../client/schema/issue.ts';
import type { Issue } from '../../../core/issue/issue.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { BoardIssue } from '../../../store/tables/board-issues.ts';
import type { Activities } from './issue-activity.ts';

/** What an issue says itself. */
export type IssueFacts = IssueSummary & Pick<IssueDetail, 'description' | 'branch' | 'parent_id'>;

export function presentBoardIssue(issue: BoardIssue, activities: Activities): IssueFacts {
  return {
    id: issue.id,
    identifier: issue.identifier,
    title: issue.title,
    state: issue.status,
    priority: wholePriority(issue.priority),
    labels: [...issue.labels],
    blockers: issue.blockers.map(({ id, identifier, status }) => ({ id, identifier, state: status })),
    url: issue.url,
    created_at: timeText(issue.createdAt),
    updated_at: timeText(issue.updatedAt),
    ...activities.of(issue.id),
    description: issue.description,
    branch: issue.branch,
    parent_id: issue.parentId,
  };
}

export function presentTrackerIssue(issue: Issue, activities: Activities): IssueFacts {
  return {
    id: issue.id,
    identifier: issue.identifier,
    title: issue.title,
    state: issue.state,
    priority: wholePriority(issue.priority),
    labels: [...issue.labels],
    blockers: issue.blockedBy.map(({ id, identifier, state }) => ({ id, identifier, state })),
    url: issue.url,
    created_at: timeText(issue.createdAt),
    updated_at: timeText(issue.updatedAt),
    ...activities.of(issue.id),
    description: issue.description,
    branch: issue.branchName,
    parent_id: null,
  };
}

/** All that is left of an issue that the tracker does not show any more. */
export interface NamedIssue {
  readonly id: string;
  readonly identifier: string;
  readonly url?: string | null;
  readonly title?: string;
  readonly state?: string;
}

/** The word for a state that nobody knows. */
const unknownState = 'unknown';

export function presentNamedIssue(issue: NamedIssue, activities: Activities): IssueFacts {
  return {
    id: issue.id,
    identifier: issue.identifier,
    title: issue.title ?? issue.identifier,
    state: issue.state ?? unknownState,
    priority: null,
    labels: [],
    blockers: [],
    url: issue.url ?? null,
    created_at: null,
    updated_at: null,
    ...activities.of(issue.id),
    description: null,
    branch: null,
    parent_id: null,
  };
}

/** As a list shows it. */
export function summaryOf({
  description: _,
  branch: _branch,
  parent_id: _parent,
  ...summary
}: IssueFacts): IssueSummary {
  return summary;
}

/** A tracker may tell what it likes. */
function wholePriority(priority: number | null): number | null {
  return priority !== null && Number.isSafeInteger(priority) && priority >= 0 ? priority : null;
}
