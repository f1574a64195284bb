import { makeIndex, tableWith } from '../make-table.ts';
import type { Migration } from '../migrations.ts';

/** What a run left in its workspace, what became of that workspace, and which workspaces a person keeps. */
export const workspacesOfRuns: Migration = {
  name: '0003-workspaces-of-runs',
  up: async (db, types) => {
    for (const column of ['evidence_json', 'removal_json']) {
      await db.schema.alterTable('runs').addColumn(column, types.text).execute();
    }
    await makeIndex(db, 'runs_in_workspace', 'runs', ['project', 'workspace', 'started_at', 'run_id']);
    await tableWith(db, types, 'pins', {
      project: 'text',
      issue_id: 'text',
      identifier: 'text',
      since: 'integer',
      author_json: 'text',
    })
      .addPrimaryKeyConstraint('pins_pkey', ['project', 'issue_id'])
      .execute();
  },
};
