import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { Board } from '../../tracker/board/board.ts';

/** Issues for programs: other issues by identifier, times in ISO 8601. */
export async function issuesAsJson(board: Board, issues: readonly BoardIssue[]): Promise<Record<string, unknown>[]> {
  const parents = await board.parentsOf(issues);
  return issues.map((issue) => ({
    identifier: issue.identifier,
    id: issue.id,
    title: issue.title,
    status: issue.status,
    priority: issue.priority,
    labels: issue.labels,
    description: issue.description,
    parent: issue.parentId === null ? null : (parents.get(issue.parentId) ?? null),
    blocked_by: issue.blockers.map(({ identifier, status }) => ({ identifier, status })),
    branch: issue.branch,
    url: issue.url,
    created_at: new Date(issue.createdAt).toISOString(),
    updated_at: new Date(issue.updatedAt).toISOString(),
  }));
}

export async function issueAsJson(board: Board, issue: BoardIssue): Promise<Record<string, unknown> | undefined> {
  const [json] = await issuesAsJson(board, [issue]);
  return json;
}
