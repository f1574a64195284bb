import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import type { BoardNews } from './board-news.ts';

type Counted = 'board_history' | 'board_comments';

/** Both tables are only ever added to, and count what is added. */
export function boardNewsTable(db: Kysely<Database>): BoardNews {
  return {
    latest: async (project) => ({
      history: await lastOf(db, 'board_history', project),
      comments: await lastOf(db, 'board_comments', project),
    }),
    after: async (project, place, limit) => {
      const changes = await added(db, 'board_history', { project, after: place.history, limit });
      const comments = await added(db, 'board_comments', { project, after: place.comments, limit });
      const issues = new Map([...changes, ...comments].map(({ id, identifier }) => [id, { id, identifier }]));
      return {
        issues: [...issues.values()],
        place: {
          history: changes.at(-1)?.seq ?? place.history,
          comments: comments.at(-1)?.seq ?? place.comments,
        },
        isAll: changes.length < limit && comments.length < limit,
      };
    },
  };
}

async function lastOf(db: Kysely<Database>, table: Counted, project: string): Promise<number> {
  const last = await db
    .selectFrom(table)
    .select('seq')
    .where('project', '=', project)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.seq ?? 0;
}

function added(
  db: Kysely<Database>,
  table: Counted,
  { project, after, limit }: { readonly project: string; readonly after: number; readonly limit: number },
): Promise<readonly { readonly seq: number; readonly id: string; readonly identifier: string }[]> {
  const rows = db
    .selectFrom(table)
    .select(['seq', 'project', 'issue_id'])
    .where('project', '=', project)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit);
  return db
    .selectFrom(rows.as('news'))
    .innerJoin('board_issues', (join) =>
      join.onRef('board_issues.project', '=', 'news.project').onRef('board_issues.id', '=', 'news.issue_id'),
    )
    .select(['news.seq', 'board_issues.id', 'board_issues.identifier'])
    .orderBy('news.seq')
    .execute();
}
