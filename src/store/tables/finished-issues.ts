import type { Kysely } from 'kysely';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import { cutToBytes } from '../storable-text.ts';
import { changedRows, countIn, ofIssue } from './statements.ts';

export interface FinishedIssue extends IssueKey {
  readonly identifier: string;
  /** As it was then, cut to 1 KB by the store. Null where it was not known; the same for the address. */
  readonly title: string | null;
  readonly url: string | null;
  /** The terminal state. */
  readonly state: string;
  readonly at: number;
}

/** Bytes of a title that are kept. */
const longestTitle = 1_024;

const columns = ['project', 'issue_id as issueId', 'identifier', 'title', 'url', 'state', 'at'] as const;

/**
 * Issues that reached a terminal state after Baton worked on them, each with the time at which it last
 * finished. It is shown to people, and no decision depends on it. What must hold: several daemons that see the same
 * finish record one time, that of the first.
 */
export function finishedTable(db: Kysely<Database>) {
  const old = (before: number) => db.selectFrom('finished_issues').where('at', '<', before);
  return {
    /**
     * Records that an issue finished, and returns the record. `openAt` is when the issue was last known not to be finished:
     * a record of that time or later is of the same finish, seen by another daemon, and stays.
     */
    note: async (entry: FinishedIssue, openAt: number): Promise<FinishedIssue> => {
      const { project, issueId, identifier, url, state, at } = entry;
      const title = entry.title === null ? null : cutToBytes(entry.title, longestTitle);
      const facts = { identifier, title, url, state, at };
      await db
        .insertInto('finished_issues')
        .values({ project, issue_id: issueId, ...facts })
        .onConflict((conflict) =>
          conflict.columns(['project', 'issue_id']).doUpdateSet(facts).where('finished_issues.at', '<', openAt),
        )
        .execute();
      const row = await db.selectFrom('finished_issues').select(columns).where(ofIssue(entry)).executeTakeFirst();
      // Pruning may have removed it meanwhile.
      return row ?? { ...entry, title };
    },

    /** The latest of the issues that finished at `from` or later, at most `limit`; the latest last. */
    latest: async (
      project: string,
      { from, limit }: { readonly from: number; readonly limit: number },
    ): Promise<readonly FinishedIssue[]> => {
      const rows = await db
        .selectFrom('finished_issues')
        .select(columns)
        .where('project', '=', project)
        .where('at', '>=', from)
        .orderBy('at', 'desc')
        .orderBy('issue_id', 'desc')
        .limit(limit)
        .execute();
      return rows.toReversed();
    },

    /** Removes at most `limit` issues that finished before this time; returns how many. */
    prune: (finishedBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('finished_issues')
          .where((eb) =>
            eb(
              eb.refTuple('project', 'issue_id'),
              'in',
              old(finishedBefore)
                .select(['project', 'issue_id'])
                .orderBy('at')
                .limit(limit)
                .$asTuple('project', 'issue_id'),
            ),
          ),
      ),

    countOld: (finishedBefore: number): Promise<number> => countIn(old(finishedBefore)),
  };
}
