import { sql } from 'kysely';
import { makeIndex } from '../make-table.ts';
import type { Migration } from '../migrations.ts';

/** The identifier of a run's issue in lower case, so that a person finds an issue by its name however many runs came after. */
export const namesOfRuns: Migration = {
  name: '0011-names-of-runs',
  up: async (db, types) => {
    await db.schema
      .alterTable('runs')
      .addColumn('name_key', types.text, (column) => column.notNull().defaultTo(''))
      .execute();
    await sql`update runs set name_key = lower(identifier)`.execute(db);
    await makeIndex(db, 'runs_of_name', 'runs', ['project', 'name_key', 'seq', 'run_id']);
  },
};
