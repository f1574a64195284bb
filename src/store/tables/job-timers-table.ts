import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import type { JobTimers } from './job-timers.ts';

export function jobTimersTable(db: Kysely<Database>): JobTimers {
  return {
    put: async (timer) => {
      const facts = {
        last_run_at: timer.lastRunAt,
        next_due_at: Math.round(timer.nextDueAt),
        outcome: timer.outcome,
        duration_ms: timer.durationMs === null ? null : Math.round(timer.durationMs),
        failures: timer.failures,
        error: timer.error,
      };
      await db
        .insertInto('job_timers')
        .values({ project: timer.project, job: timer.job, owner: timer.owner, ...facts })
        .onConflict((conflict) => conflict.columns(['project', 'job', 'owner']).doUpdateSet(facts))
        .execute();
    },
    list: async (project) => {
      const rows = await db
        .selectFrom('job_timers')
        .selectAll()
        .where('project', '=', project)
        .orderBy('job')
        .orderBy('owner')
        .execute();
      return rows.map((row) => ({
        project: row.project,
        job: row.job,
        owner: row.owner,
        lastRunAt: row.last_run_at,
        nextDueAt: row.next_due_at,
        outcome: row.outcome,
        durationMs: row.duration_ms,
        failures: row.failures,
        error: row.error,
      }));
    },
  };
}
