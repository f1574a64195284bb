import type { Kysely } from 'kysely';
import { recoverySteps } from '../../core/run/context-recovery.ts';
import type { Database } from '../schema.ts';
import type { Retries, Retry } from './retries.ts';

export function retriesTable(db: Kysely<Database>): Retries {
  return {
    put: async (retry) => {
      const facts = {
        identifier: retry.identifier,
        url: retry.url,
        kind: retry.kind,
        attempt: retry.attempt,
        failures: retry.failures,
        stale_runs: retry.staleRuns,
        due_at: retry.dueAt,
        error: retry.error,
        recovery: retry.recovery,
        note: retry.note,
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
    read: async (key) => {
      const row = await db
        .selectFrom('retries')
        .selectAll()
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .executeTakeFirst();
      return row === undefined ? null : retryFrom(row);
    },
    list: async (project) => {
      const rows = await db
        .selectFrom('retries')
        .selectAll()
        .where('project', '=', project)
        .orderBy('due_at')
        .orderBy('issue_id')
        .execute();
      return rows.map(retryFrom);
    },
  };
}

function retryFrom(row: Database['retries']): Retry {
  return {
    project: row.project,
    issueId: row.issue_id,
    identifier: row.identifier,
    url: row.url,
    kind: row.kind,
    attempt: row.attempt,
    failures: row.failures,
    staleRuns: row.stale_runs,
    dueAt: row.due_at,
    error: row.error,
    // A step that a later Baton knows is none here: the run is then an ordinary one.
    recovery: recoverySteps.find((step) => step === row.recovery) ?? null,
    note: row.note,
  };
}
