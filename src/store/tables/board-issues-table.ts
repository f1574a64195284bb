import type { Kysely } from 'kysely';
import { atomically } from '../atomically.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { boardIssuesFrom, dispatchRank } from './board-issue-rows.ts';
import type { BoardIssuePatch, BoardIssues } from './board-issues.ts';
import { boardList } from './board-list.ts';
import { boardPage } from './board-page.ts';
import { createBoardIssue, lockCounter } from './create-board-issue.ts';

export function boardIssuesTable(db: Kysely<Database>, engine: Engine['name']): BoardIssues {
  return {
    lock: async (project) => void (await lockCounter(db, engine, project)),

    create: (project, draft, at) => atomically(db, (inside) => createBoardIssue(inside, engine, project, draft, at)),

    update: async (key, patch, at) => {
      const rows = await db
        .updateTable('board_issues')
        .set({
          ...columnsOf(patch),
          updated_at: at,
        })
        .where('project', '=', key.project)
        .where('id', '=', key.issueId)
        .returningAll()
        .execute();
      return (await boardIssuesFrom(db, key.project, rows))[0] ?? null;
    },

    setStatus: async (key, change, at) => {
      const rows = await db
        .updateTable('board_issues')
        .set({ status: change.to, updated_at: at })
        .where('project', '=', key.project)
        .where('id', '=', key.issueId)
        .where('status', '=', change.from)
        .returningAll()
        .execute();
      return (await boardIssuesFrom(db, key.project, rows))[0] ?? null;
    },

    readMany: (project, ids) => readMany(db, project, ids),

    byIdentifier: async (project, identifier) => {
      const rows = await db
        .selectFrom('board_issues')
        .selectAll()
        .where('project', '=', project)
        .where('identifier', '=', identifier)
        .execute();
      return (await boardIssuesFrom(db, project, rows))[0] ?? null;
    },

    byStatuses: async (project, statuses) => {
      if (statuses.length === 0) return [];
      const rows = await db
        .selectFrom('board_issues')
        .selectAll()
        .where('project', '=', project)
        .where('status', 'in', [...statuses])
        .orderBy('dispatch_rank')
        .orderBy('created_at')
        .orderBy('identifier')
        .execute();
      return boardIssuesFrom(db, project, rows);
    },

    page: (project, query) => boardPage(db, project, query),

    list: (project, query) => boardList(db, project, query),

    countByStatus: async (project) => {
      const rows = await db
        .selectFrom('board_issues')
        .select(['status', (eb) => eb.fn.countAll<number>().as('count')])
        .where('project', '=', project)
        .groupBy('status')
        .execute();
      return Object.fromEntries(rows.map((row) => [row.status, row.count]));
    },

    children: async (key) => {
      const rows = await db
        .selectFrom('board_issues')
        .selectAll()
        .where('project', '=', key.project)
        .where('parent_id', '=', key.issueId)
        .orderBy('created_at')
        .orderBy('identifier')
        .execute();
      return boardIssuesFrom(db, key.project, rows);
    },

    addBlocker: async (key, blockerId) => {
      const done = await db
        .insertInto('board_blockers')
        .values({ project: key.project, issue_id: key.issueId, blocker_id: blockerId })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id', 'blocker_id']).doNothing())
        .executeTakeFirst();
      return done.numInsertedOrUpdatedRows === 1n;
    },

    removeBlocker: async (key, blockerId) => {
      const done = await db
        .deleteFrom('board_blockers')
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .where('blocker_id', '=', blockerId)
        .executeTakeFirst();
      return done.numDeletedRows === 1n;
    },

    blockedBy: async (key) => {
      const rows = await db
        .selectFrom('board_blockers')
        .innerJoin('board_issues', (join) =>
          join
            .onRef('board_issues.project', '=', 'board_blockers.project')
            .onRef('board_issues.id', '=', 'board_blockers.issue_id'),
        )
        .selectAll('board_issues')
        .where('board_blockers.project', '=', key.project)
        .where('board_blockers.blocker_id', '=', key.issueId)
        .orderBy('board_issues.created_at')
        .orderBy('board_issues.identifier')
        .execute();
      return boardIssuesFrom(db, key.project, rows);
    },
  };
}

/** One by one, so that nothing else that an object may carry, such as a status, gets past the rules of the board. */
function columnsOf(patch: BoardIssuePatch): Partial<Database['board_issues']> {
  const { title, description, priority, labels, parentId, branch, url } = patch;
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(priority === undefined ? {} : { priority, dispatch_rank: dispatchRank(priority) }),
    ...(labels === undefined ? {} : { labels_json: JSON.stringify(labels) }),
    ...(parentId === undefined ? {} : { parent_id: parentId }),
    ...(branch === undefined ? {} : { branch }),
    ...(url === undefined ? {} : { url }),
  };
}

async function readMany(db: Kysely<Database>, project: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('board_issues')
    .selectAll()
    .where('project', '=', project)
    .where('id', 'in', [...new Set(ids)])
    .execute();
  const found = new Map((await boardIssuesFrom(db, project, rows)).map((issue) => [issue.id, issue]));
  return ids.flatMap((id) => found.get(id) ?? []);
}
