import type { Migration } from '../migrations.ts';

/** What a person wanted the agent of a run to know, as long as that has not been told. */
export const notesOfRuns: Migration = {
  name: '0007-notes-of-runs',
  up: async (db, types) => {
    await db.schema.alterTable('runs').addColumn('note', types.text).execute();
  },
};
