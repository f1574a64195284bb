import type { Kysely } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { boardIssuesFrom, dispatchRank } from './board-issue-rows.ts';
import type { BoardIssue, BoardIssueDraft } from './board-issues.ts';

/**
 * Gives the next number of the project and writes the issue; with a client key that is known it gives the issue of
 * then. Must run in a transaction: the counter's row is the lock that keeps two makers apart, so after taking it the
 * key is looked for, and a number is spent only on an issue that is made.
 */
export async function createBoardIssue(
  db: Kysely<Database>,
  engine: Engine['name'],
  project: string,
  draft: BoardIssueDraft,
  at: number,
): Promise<{ readonly issue: BoardIssue; readonly created: boolean }> {
  const lastNumber = await lockCounter(db, engine, project);
  const known = draft.clientKey === null ? null : await byClientKey(db, project, draft.clientKey);
  if (known !== null) return { issue: known, created: false };

  const number = lastNumber + 1;
  await db.updateTable('board_counters').set({ last_number: number }).where('project', '=', project).execute();
  const row: Database['board_issues'] = {
    project,
    id: draft.id,
    identifier: `${draft.prefix}-${number}`,
    title: draft.title,
    description: draft.description,
    status: draft.status,
    priority: draft.priority,
    dispatch_rank: dispatchRank(draft.priority),
    labels_json: JSON.stringify(draft.labels),
    parent_id: draft.parentId,
    branch: draft.branch,
    url: draft.url,
    client_key: draft.clientKey,
    created_at: at,
    updated_at: at,
  };
  const written = await db.insertInto('board_issues').values(row).returningAll().execute();
  const blockers = [...new Set(draft.blockerIds)];
  if (blockers.length > 0) {
    await db
      .insertInto('board_blockers')
      .values(blockers.map((blocker_id) => ({ project, issue_id: draft.id, blocker_id })))
      .execute();
  }
  const [issue] = await boardIssuesFrom(db, project, written);
  if (issue === undefined) throw new Error('an insert gave no row back');
  return { issue, created: true };
}

/** The counter's row is the lock of a project's board. */
export async function lockCounter(db: Kysely<Database>, engine: Engine['name'], project: string): Promise<number> {
  await db
    .insertInto('board_counters')
    .values({ project, last_number: 0 })
    .onConflict((conflict) => conflict.column('project').doNothing())
    .execute();
  const counter = db.selectFrom('board_counters').select('last_number').where('project', '=', project);
  // SQLite has one writer, and this is it; PostgreSQL locks the row.
  const row = await (engine === 'postgres' ? counter.forUpdate() : counter).executeTakeFirstOrThrow();
  return row.last_number;
}

async function byClientKey(db: Kysely<Database>, project: string, clientKey: string): Promise<BoardIssue | null> {
  const rows = await db
    .selectFrom('board_issues')
    .selectAll()
    .where('project', '=', project)
    .where('client_key', '=', clientKey)
    .execute();
  return (await boardIssuesFrom(db, project, rows))[0] ?? null;
}
