import { sql } from 'kysely';
import { makeIndex, tableWith } from '../make-table.ts';
import type { Migration } from '../migrations.ts';

/** What a claim and a retry have to tell so that another process can go on with them. */
export const durableClaims: Migration = {
  name: '0002-durable-claims',
  up: async (db, types) => {
    for (const column of ['slot_state', 'host']) {
      await db.schema.alterTable('claims').addColumn(column, types.text).execute();
    }
    // No Baton of the first version wrote a retry, so there is nothing to carry over.
    await db.schema.dropTable('retries').execute();
    await tableWith(db, types, 'retries', {
      project: 'text',
      issue_id: 'text',
      identifier: 'text',
      url: 'text?',
      kind: 'text?',
      attempt: 'integer?',
      failures: 'integer',
      stale_runs: 'integer',
      due_at: 'integer',
      error: 'text?',
    })
      .addPrimaryKeyConstraint('retries_pkey', ['project', 'issue_id'])
      .execute();
    await makeIndex(db, 'retries_due', 'retries', ['project', 'due_at', 'issue_id']);
    // With the whole order in it. Without, SQLite went through all runs of the project to find the few in progress.
    await db.schema.dropIndex('runs_unfinished').execute();
    await db.schema
      .createIndex('runs_unfinished')
      .on('runs')
      .columns(['project', 'started_at', 'run_id'])
      .where(sql.ref('ended_at'), 'is', null)
      .execute();
  },
};
