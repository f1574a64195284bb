import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import type { Held } from './held.ts';

export function heldTable(db: Kysely<Database>): Held {
  return {
    put: async (entry) => {
      const facts = {
        identifier: entry.identifier,
        code: entry.code,
        reason: entry.reason,
        since: entry.since,
        run_id: entry.runId,
      };
      await db
        .insertInto('held')
        .values({ project: entry.project, issue_id: entry.issueId, ...facts })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doUpdateSet(facts))
        .execute();
    },
    remove: async (key) => {
      const done = await db
        .deleteFrom('held')
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .executeTakeFirst();
      return done.numDeletedRows === 1n;
    },
    list: async (project) => {
      const rows = await db
        .selectFrom('held')
        .selectAll()
        .where('project', '=', project)
        .orderBy('since')
        .orderBy('issue_id')
        .execute();
      return rows.map((row) => ({
        project: row.project,
        issueId: row.issue_id,
        identifier: row.identifier,
        code: row.code,
        reason: row.reason,
        since: row.since,
        runId: row.run_id,
      }));
    },
  };
}
