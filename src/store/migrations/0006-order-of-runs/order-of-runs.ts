import { sql } from 'kysely';
import { makeIndex } from '../make-table.ts';
import type { Migration } from '../migrations.ts';

/** The order in which the runs of a project started, of their own: a clock can be set back. */
export const orderOfRuns: Migration = {
  name: '0006-order-of-runs',
  up: async (db, types) => {
    await db.schema
      .alterTable('runs')
      .addColumn('seq', types.integer, (column) => column.notNull().defaultTo(0))
      .execute();
    // Of the runs of before, the clock is all that is known.
    await sql`
      update runs set seq = ordered.place from (
        select run_id, row_number() over (partition by project order by started_at, run_id) as place from runs
      ) as ordered where ordered.run_id = runs.run_id`.execute(db);
    for (const index of ['runs_newest', 'runs_of_issue', 'runs_in_workspace', 'runs_unfinished']) {
      await db.schema.dropIndex(index).execute();
    }
    await makeIndex(db, 'runs_newest', 'runs', ['project', 'seq', 'run_id']);
    await makeIndex(db, 'runs_of_issue', 'runs', ['project', 'issue_id', 'seq', 'run_id']);
    await makeIndex(db, 'runs_in_workspace', 'runs', ['project', 'workspace', 'seq', 'run_id']);
    await db.schema
      .createIndex('runs_unfinished')
      .on('runs')
      .columns(['project', 'seq', 'run_id'])
      .where(sql.ref('ended_at'), 'is', null)
      .execute();
  },
};
