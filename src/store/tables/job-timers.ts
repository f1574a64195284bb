import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { changedOne } from './statements.ts';

export interface JobTimer {
  readonly project: string;
  readonly job: string;
  /** The daemon whose job it is; empty for one that any daemon on the store does for all. */
  readonly owner: string;
  readonly lastRunAt: number | null;
  readonly nextDueAt: number;
  /** Of the last run; null before it. */
  readonly outcome: 'ok' | 'failed' | null;
  readonly durationMs: number | null;
  /** Failures in a row. */
  readonly failures: number;
  /** The message of the last failure. */
  readonly error: string | null;
}

export interface TakenTurn {
  readonly seen: number | null;
  readonly nextDueAt: number;
}

const columns = [
  'project',
  'job',
  'owner',
  'last_run_at as lastRunAt',
  'next_due_at as nextDueAt',
  'outcome',
  'duration_ms as durationMs',
  'failures',
  'error',
] as const;

/** How each recurring job last ended and when it is due next, so that a restart does not run all of them at once. */
export function jobTimersTable(db: Kysely<Database>) {
  return {
    put: async ({ project, job, owner, ...timer }: JobTimer): Promise<void> => {
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
        .values({ project, job, owner, ...facts })
        .onConflict((conflict) => conflict.columns(['project', 'job', 'owner']).doUpdateSet(facts))
        .execute();
    },

    /**
     * One daemon takes the next run of a job that one does for all: moves its due time, if it is still the one that this
     * daemon saw; null: there was no row. False: another daemon was faster.
     */
    take: (project: string, job: string, { seen, nextDueAt }: TakenTurn): Promise<boolean> =>
      changedOne(
        seen === null
          ? db
              .insertInto('job_timers')
              .values({ project, job, owner: '', next_due_at: Math.round(nextDueAt), failures: 0 })
              .onConflict((conflict) => conflict.columns(['project', 'job', 'owner']).doNothing())
          : db
              .updateTable('job_timers')
              .set({ next_due_at: Math.round(nextDueAt) })
              .where('project', '=', project)
              .where('job', '=', job)
              .where('owner', '=', '')
              .where('next_due_at', '=', seen),
      ),

    /** Of every owner, by job and owner. */
    list: (project: string): Promise<readonly JobTimer[]> =>
      db
        .selectFrom('job_timers')
        .select(columns)
        .where('project', '=', project)
        .orderBy('job')
        .orderBy('owner')
        .execute(),
  };
}
