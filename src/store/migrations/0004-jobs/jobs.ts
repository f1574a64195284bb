import { tableWith } from '../make-table.ts';
import type { Migration } from '../migrations.ts';

/** What became of a job and whose job it is. Times of before are not carried over: what was due runs once more. */
export const jobs: Migration = {
  name: '0004-jobs',
  up: async (db, types) => {
    await db.schema.dropTable('job_timers').execute();
    await tableWith(db, types, 'job_timers', {
      project: 'text',
      job: 'text',
      owner: 'text',
      last_run_at: 'integer?',
      next_due_at: 'integer',
      outcome: 'text?',
      duration_ms: 'integer?',
      failures: 'integer',
      error: 'text?',
    })
      .addPrimaryKeyConstraint('job_timers_pkey', ['project', 'job', 'owner'])
      .execute();
  },
};
