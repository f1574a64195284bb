import type { Kysely } from 'kysely';
import type { Check, CheckResult } from '../../../core/pull/pull-request.ts';
import type { Database } from '../../schema.ts';
import { changedOne, changedRows, countIn } from '../statements.ts';
import type { PullKey } from './pull-requests.ts';

/** A check to run. */
export interface PlannedCheck {
  readonly name: string;
  readonly command: string;
}

/** A check that has no result yet, with its pull request. */
export interface WaitingCheck extends PlannedCheck {
  readonly number: number;
  readonly commit: string;
}

export interface CheckEnd {
  readonly at: number;
  readonly result: CheckResult;
  readonly exitCode: number | null;
  /** The caller bounds it. */
  readonly output: string;
}

/**
 * The checks of pull requests. A result belongs to one commit, is written once and stays until a person asks for another;
 * `skipped` is not a result, and is tried again. A check without a result has to run, even if it was started before: its
 * daemon may have been lost.
 */
export function checksTable(db: Kysely<Database>) {
  const old = (endedBefore: number) =>
    db
      .selectFrom('checks')
      .where('ended_at', '<', endedBefore)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('pull_requests')
            .select('pull_requests.number')
            .whereRef('pull_requests.project', '=', 'checks.project')
            .whereRef('pull_requests.number', '=', 'checks.number')
            .where(({ or, eb: of }) => or([of('merged_at', 'is not', null), of('closed_at', 'is not', null)])),
        ),
      );
  const one = ({ project, number }: PullKey, commit: string, name: string) =>
    db
      .updateTable('checks')
      .where('project', '=', project)
      .where('number', '=', number)
      .where('commit_id', '=', commit)
      .where('name', '=', name)
      .where('ended_at', 'is', null);
  return {
    /** Plans the checks of a commit; those that are planned already, or have a result, stay as they are. */
    plan: async ({ project, number }: PullKey, commit: string, planned: readonly PlannedCheck[]): Promise<void> => {
      if (planned.length === 0) return;
      await db
        .insertInto('checks')
        .values(
          planned.map(({ name, command }, place) => ({ project, number, commit_id: commit, name, command, place })),
        )
        .onConflict((conflict) => conflict.columns(['project', 'number', 'commit_id', 'name']).doNothing())
        .execute();
    },

    /** False when it has a result. */
    start: (key: PullKey, commit: string, name: string, at: number): Promise<boolean> =>
      changedOne(one(key, commit, name).set({ started_at: at })),

    /** False when it has a result; the first one counts. */
    end: (key: PullKey, commit: string, name: string, { at, result, exitCode, output }: CheckEnd): Promise<boolean> =>
      changedOne(one(key, commit, name).set({ ended_at: at, result, exit_code: exitCode, output })),

    /** Lets a check run again that ended with one of these results. False when it ended with another one, or waits. */
    again: (
      { project, number }: PullKey,
      commit: string,
      { name, command }: PlannedCheck,
      ended: readonly CheckResult[],
    ): Promise<boolean> =>
      changedOne(
        db
          .updateTable('checks')
          .where('project', '=', project)
          .where('number', '=', number)
          .where('commit_id', '=', commit)
          .where('name', '=', name)
          .where('result', 'in', ended)
          .set({ command, started_at: null, ended_at: null, result: null, exit_code: null, output: null }),
      ),

    /** Those without a result, in the order in which they are to run. */
    waiting: async (project: string): Promise<readonly WaitingCheck[]> => {
      const rows = await db
        .selectFrom('checks')
        .select(['number', 'commit_id as commit', 'name', 'command'])
        .where('project', '=', project)
        .where('ended_at', 'is', null)
        .orderBy('number')
        .orderBy('place')
        .execute();
      return rows;
    },

    /** The checks of a pull request, of one commit when it is given, in the order in which they run. */
    list: async ({ project, number }: PullKey, commit?: string): Promise<readonly Check[]> => {
      const all = db
        .selectFrom('checks')
        .select([
          'commit_id as commit',
          'name',
          'command',
          'started_at as startedAt',
          'ended_at as endedAt',
          'exit_code as exitCode',
          'result',
          'output',
        ])
        .where('project', '=', project)
        .where('number', '=', number);
      return (commit === undefined ? all : all.where('commit_id', '=', commit))
        .orderBy('commit_id')
        .orderBy('place')
        .execute();
    },

    countOld: (endedBefore: number): Promise<number> => countIn(old(endedBefore)),

    /**
     * Removes at most `limit` that ended before this time, of pull requests that have ended; returns how many. One of an
     * open pull request stays: without its result it would run again.
     */
    prune: (endedBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('checks')
          .where((eb) =>
            eb(
              eb.refTuple('project', 'number', 'commit_id', 'name'),
              'in',
              old(endedBefore)
                .select(['project', 'number', 'commit_id', 'name'])
                .orderBy('ended_at')
                .limit(limit)
                .$asTuple('project', 'number', 'commit_id', 'name'),
            ),
          ),
      ),
  };
}
