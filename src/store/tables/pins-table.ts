import type { Kysely } from 'kysely';
import { authorFrom } from '../json-text.ts';
import type { Database } from '../schema.ts';
import type { Pins } from './pins.ts';

export function pinsTable(db: Kysely<Database>): Pins {
  return {
    put: async ({ project, issueId, identifier, since, author }) => {
      await db
        .insertInto('pins')
        .values({ project, issue_id: issueId, identifier, since, author_json: JSON.stringify(author) })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doNothing())
        .execute();
    },
    remove: async ({ project, issueId }) => {
      const done = await db
        .deleteFrom('pins')
        .where('project', '=', project)
        .where('issue_id', '=', issueId)
        .executeTakeFirst();
      return done.numDeletedRows > 0n;
    },
    list: async (project) => {
      const rows = await db.selectFrom('pins').selectAll().where('project', '=', project).orderBy('issue_id').execute();
      return rows.map((row) => ({
        project: row.project,
        issueId: row.issue_id,
        identifier: row.identifier,
        since: row.since,
        author: authorFrom(row.author_json),
      }));
    },
  };
}
