import type { Kysely } from 'kysely';
import type { JobTimers } from '../job-timers.ts';
import type { Database } from '../schema.ts';

export function jobTimersTable(db: Kysely<Database>): JobTimers {
  return {
    put: async (timer) => {
      const times = { last_run_at: timer.lastRunAt, next_due_at: timer.nextDueAt };
      await db
        .insertInto('job_timers')
        .values({ project: timer.project, job: timer.job, ...times })
        .onConflict((conflict) => conflict.columns(['project', 'job']).doUpdateSet(times))
        .execute();
    },
    list: async (project) => {
      const rows = await db
        .selectFrom('job_timers')
        .selectAll()
        .where('project', '=', project)
        .orderBy('job')
        .execute();
      return rows.map((row) => ({
        project: row.project,
        job: row.job,
        lastRunAt: row.last_run_at,
        nextDueAt: row.next_due_at,
      }));
    },
  };
}
