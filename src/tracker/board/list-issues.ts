import type { BoardStatus } from '../../core/issue/board-status.ts';
import { normalizeLabels } from '../../core/issue/issue.ts';
import type { BoardIssue, BoardPage } from '../../store/tables/board-issues.ts';
import type { BoardParts } from './board-parts.ts';

export interface ListQuery {
  /** An empty list means all. */
  readonly statuses: readonly BoardStatus[];
  /** An issue needs all of them. */
  readonly labels: readonly string[];
  readonly limit: number;
}

/** Issues in progress come before waiting ones, and those before finished ones. */
const listOrder: readonly BoardStatus[] = ['in_progress', 'review', 'blocked', 'todo', 'backlog', 'done', 'cancelled'];

const pageSize = 200;

/** The matching issues, status by status, the newest change first; stops reading at the limit. */
export async function listIssues({ store, project }: BoardParts, query: ListQuery): Promise<readonly BoardIssue[]> {
  const wanted = normalizeLabels(query.labels);
  const statuses = listOrder.filter((status) => query.statuses.length === 0 || query.statuses.includes(status));
  if (wanted.length === 0) return (await store.boardIssues.tops(project, statuses, query.limit)).slice(0, query.limit);
  const found: BoardIssue[] = [];
  for (const status of statuses) {
    let after: string | null = null;
    do {
      if (found.length >= query.limit) return found.slice(0, query.limit);
      const page: BoardPage = await store.boardIssues.page(project, { status, limit: pageSize, after });
      found.push(...page.issues.filter(({ labels }) => wanted.every((label) => labels.includes(label))));
      after = page.next;
    } while (after !== null);
  }
  return found.slice(0, query.limit);
}
