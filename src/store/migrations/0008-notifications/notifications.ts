import { makeIndex, tableWith } from '../make-table.ts';
import type { Migration } from '../migrations.ts';

/** Who was told of what. */
export const notifications: Migration = {
  name: '0008-notifications',
  up: async (db, types) => {
    await tableWith(db, types, 'notifications', {
      project: 'text',
      cause: 'text',
      target: 'text',
      nature: 'text',
      cause_json: 'text',
      first_seen_at: 'integer',
      seen_at: 'integer',
      over_at: 'integer?',
      message: 'text?',
      tries: 'integer',
      first_try_at: 'integer?',
      next_try_at: 'integer?',
      sent_at: 'integer?',
      error: 'text?',
    })
      .addPrimaryKeyConstraint('notifications_pkey', ['project', 'cause', 'target'])
      .execute();
    await makeIndex(db, 'notifications_seen', 'notifications', ['seen_at']);
  },
};
