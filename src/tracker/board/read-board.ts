import { type BoardStatus, boardStatuses } from '../../core/issue/board-status.ts';
import type { BoardComment } from '../../store/tables/board-comments.ts';
import type { BoardHistoryEntry } from '../../store/tables/board-history.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { BoardParts } from './board-parts.ts';
import { requireIssue } from './require-issue.ts';

export interface BoardColumn {
  readonly status: BoardStatus;
  /** The number of issues; `issues` may hold fewer. */
  readonly count: number;
  readonly issues: readonly BoardIssue[];
}

/** All facts about one issue. */
export interface IssueDetails {
  readonly issue: BoardIssue;
  readonly parent: BoardIssue | null;
  readonly children: readonly BoardIssue[];
  /** The issues that wait for it. */
  readonly blocks: readonly BoardIssue[];
  readonly comments: readonly BoardComment[];
  readonly history: readonly BoardHistoryEntry[];
}

export async function readColumns({ store, project }: BoardParts, limit: number): Promise<BoardColumn[]> {
  const counts = await store.boardIssues.countByStatus(project);
  const tops = Map.groupBy(await store.boardIssues.tops(project, boardStatuses, limit), ({ status }) => status);
  return boardStatuses.map((status) => ({ status, count: counts[status] ?? 0, issues: tops.get(status) ?? [] }));
}

/** Not in a transaction: a reader must neither wait for a writer nor block one. So history may be one change ahead. */
export async function readDetails({ store, project }: BoardParts, id: string): Promise<IssueDetails> {
  const key = { project, issueId: id };
  const issue = await requireIssue(store, project, id);
  const [children, blocks, comments, history] = await Promise.all([
    store.boardIssues.children(key),
    store.boardIssues.blockedBy(key),
    store.boardComments.list(key),
    store.boardHistory.list(key),
  ]);
  const parent = issue.parentId === null ? null : await requireIssue(store, project, issue.parentId);
  return { issue, parent, children, blocks, comments, history };
}

export async function readParents(
  { store, project }: BoardParts,
  issues: readonly BoardIssue[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(issues.map(({ parentId }) => parentId).filter((id) => id !== null))];
  const parents = ids.length === 0 ? [] : await store.boardIssues.readMany(project, ids);
  return new Map(parents.map(({ id, identifier }) => [id, identifier]));
}
