import type { IssueDetail, IssueSummary } from '../../../client/schema/issue.ts';
import type { Issue } from '../../../core/issue/issue.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { BoardIssue } from '../../../store/tables/board-issues.ts';
import type { Activities } from './issue-activity.ts';

/** The facts of an issue. */
export type IssueFacts = IssueSummary & Pick<IssueDetail, 'description' | 'branch' | 'parent_id'>;

export function presentBoardIssue(issue: BoardIssue, activities: Activities): IssueFacts {
  const { status: state, branch: branchName } = issue;
  const blockedBy = issue.blockers.map(({ id, identifier, status }) => ({ id, identifier, state: status }));
  return { ...presentTrackerIssue({ ...issue, state, branchName, blockedBy }, activities), parent_id: issue.parentId };
}

export function presentTrackerIssue(issue: Shown, activities: Activities): IssueFacts {
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

type Shown = Pick<
  Issue,
  | ('id' | 'identifier' | 'title' | 'state' | 'priority' | 'labels' | 'blockedBy' | 'url')
  | ('createdAt' | 'updatedAt' | 'description' | 'branchName')
>;

/** What Baton still knows of an issue that the tracker no longer returns. */
export interface NamedIssue {
  readonly id: string;
  readonly identifier: string;
  readonly url?: string | null;
  readonly title?: string;
  readonly state?: string;
}

/** The state shown when Baton does not know it. */
const unknownState = 'unknown';

export function presentNamedIssue(issue: NamedIssue, activities: Activities): IssueFacts {
  const { title = issue.identifier, state = unknownState, url = null } = issue;
  const unknown = { priority: null, labels: [], blockedBy: [], createdAt: null, updatedAt: null, description: null };
  return presentTrackerIssue({ ...issue, ...unknown, title, state, url, branchName: null }, activities);
}

/** The issue as a list shows it. */
export function summaryOf({
  description: _,
  branch: _branch,
  parent_id: _parent,
  ...summary
}: IssueFacts): IssueSummary {
  return summary;
}

/** A tracker may send any number; only a whole number from 0 up is a priority. */
export function wholePriority(priority: number | null): number | null {
  return priority !== null && Number.isSafeInteger(priority) && priority >= 0 ? priority : null;
}

/** Every issue that Baton sees in an external tracker, each once, in its last known state. */
export function seenIssues(model: ReadModel, activities: Activities): readonly IssueFacts[] {
  const found = new Map<string, IssueFacts>();
  const whole = [
    ...model.running.map(({ issue }) => issue),
    ...model.candidates,
    ...model.reviews,
    ...model.skipped.map(({ issue }) => issue),
  ];
  for (const issue of whole) if (!found.has(issue.id)) found.set(issue.id, presentTrackerIssue(issue, activities));
  const named = [
    ...model.completed.map(({ issue, state }) => ({ ...issue, state })),
    ...[...model.retrying, ...model.waitingQuota, ...model.held, ...model.questions].map(({ issue }) => issue),
  ];
  for (const issue of named) if (!found.has(issue.id)) found.set(issue.id, presentNamedIssue(issue, activities));
  return [...found.values()];
}

/** What every row contains about its issue. */
interface RowName {
  issue_id: string;
  issue_identifier: string;
  title: string | null;
  issue_url: string | null;
}

/** As the tracker last returned the issue; otherwise what Baton remembers. */
export function rowName(
  issue: { readonly id: string; readonly identifier: string; readonly title?: string; readonly url?: string | null },
  known: ReadonlyMap<string, Issue>,
): RowName {
  const seen = known.get(issue.id);
  return {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    title: seen?.title ?? issue.title ?? null,
    issue_url: issue.url ?? seen?.url ?? null,
  };
}
