import { makeIndex, tableWith } from '../make-table.ts';
import type { Migration } from '../migrations.ts';

/** Issues that came to their end after Baton worked on them. */
export const landed: Migration = {
  name: '0009-landed',
  up: async (db, types) => {
    await tableWith(db, types, 'landed', {
      project: 'text',
      issue_id: 'text',
      identifier: 'text',
      title: 'text?',
      url: 'text?',
      state: 'text',
      at: 'integer',
    })
      .addPrimaryKeyConstraint('landed_pkey', ['project', 'issue_id'])
      .execute();
    await makeIndex(db, 'landed_latest', 'landed', ['project', 'at', 'issue_id']);
    await makeIndex(db, 'landed_oldest', 'landed', ['at']);
  },
};
