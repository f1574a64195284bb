import type { Kysely } from 'kysely';
import type { Retries } from '../retries.ts';
import type { Database } from '../schema.ts';

export function retriesTable(db: Kysely<Database>): Retries {
  return {
    put: async (retry) => {
      const facts = {
        identifier: retry.identifier,
        kind: retry.kind,
        attempt: retry.attempt,
        failures: retry.failures,
        due_at: retry.dueAt,
        error: retry.error,
        slot_waits: retry.slotWaits,
      };
      await db
        .insertInto('retries')
        .values({ project: retry.project, issue_id: retry.issueId, ...facts })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doUpdateSet(facts))
        .execute();
    },
    remove: async (key) => {
      const done = await db
        .deleteFrom('retries')
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .executeTakeFirst();
      return done.numDeletedRows === 1n;
    },
    list: async (project) => {
      const rows = await db
        .selectFrom('retries')
        .selectAll()
        .where('project', '=', project)
        .orderBy('due_at')
        .orderBy('issue_id')
        .execute();
      return rows.map((row) => ({
        project: row.project,
        issueId: row.issue_id,
        identifier: row.identifier,
        kind: row.kind,
        attempt: row.attempt,
        failures: row.failures,
        dueAt: row.due_at,
        error: row.error,
        slotWaits: row.slot_waits,
      }));
    },
  };
}
