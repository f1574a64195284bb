import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import type { BoardIssue } from './board-issues.ts';
import { inParts } from './statements.ts';

/** Rows as issues, in the same order, each with its blockers as they are now. */
export async function boardIssuesFrom(
  db: Kysely<Database>,
  project: string,
  rows: readonly Database['board_issues'][],
): Promise<readonly BoardIssue[]> {
  const blockers = await blockersOf(
    db,
    project,
    rows.map((row) => row.id),
  );
  return rows.map((row) => ({
    id: row.id,
    identifier: row.identifier,
    title: row.title,
    description: row.description,
    status: row.status,
    priority: row.priority,
    // Only the store writes it, from a list of texts.
    labels: JSON.parse(row.labels_json) as string[],
    parentId: row.parent_id,
    branch: row.branch,
    url: row.url,
    blockers: (blockers.get(row.id) ?? []).map(({ id, identifier, status }) => ({ id, identifier, status })),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

async function blockersOf(db: Kysely<Database>, project: string, ids: readonly string[]) {
  const found = [];
  for (const some of inParts(ids)) {
    const rows = await db
      .selectFrom('board_blockers')
      .innerJoin('board_issues', (join) =>
        join
          .onRef('board_issues.project', '=', 'board_blockers.project')
          .onRef('board_issues.id', '=', 'board_blockers.blocker_id'),
      )
      .select(['board_blockers.issue_id', 'board_issues.id', 'board_issues.identifier', 'board_issues.status'])
      .where('board_blockers.project', '=', project)
      .where('board_blockers.issue_id', 'in', some)
      .orderBy('board_issues.created_at')
      .orderBy('board_issues.identifier')
      .execute();
    found.push(...rows);
  }
  return Map.groupBy(found, ({ issue_id }) => issue_id);
}
