import type { Kysely } from 'kysely';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import { cutToBytes } from '../storable-text.ts';
import { changedRows, ofIssue } from './statements.ts';

export interface LandedIssue extends IssueKey {
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
 * Issues that reached a terminal state after Baton worked on them, each with its latest landing. For people: nothing is
 * decided by it. What must hold: several daemons that see the same landing give it one time, that of the first.
 */
export function landedTable(db: Kysely<Database>) {
  return {
    /**
     * Records that an issue landed, and gives the record. `openAt` is when the issue was last known not to be finished:
     * a record of that time or later is the same landing, as another daemon saw it, and stays.
     */
    note: async (entry: LandedIssue, openAt: number): Promise<LandedIssue> => {
      const { project, issueId, identifier, url, state, at } = entry;
      const title = entry.title === null ? null : cutToBytes(entry.title, longestTitle);
      const facts = { identifier, title, url, state, at };
      await db
        .insertInto('landed')
        .values({ project, issue_id: issueId, ...facts })
        .onConflict((conflict) =>
          conflict.columns(['project', 'issue_id']).doUpdateSet(facts).where('landed.at', '<', openAt),
        )
        .execute();
      const row = await db.selectFrom('landed').select(columns).where(ofIssue(entry)).executeTakeFirst();
      // Pruning may have removed it meanwhile.
      return row ?? { ...entry, title };
    },

    /** The latest of those that landed at `from` or later, at most `limit`; the latest last. */
    latest: async (
      project: string,
      { from, limit }: { readonly from: number; readonly limit: number },
    ): Promise<readonly LandedIssue[]> => {
      const rows = await db
        .selectFrom('landed')
        .select(columns)
        .where('project', '=', project)
        .where('at', '>=', from)
        .orderBy('at', 'desc')
        .orderBy('issue_id', 'desc')
        .limit(limit)
        .execute();
      return rows.toReversed();
    },

    /** Removes at most `limit` that landed before this; gives how many. */
    prune: (landedBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('landed')
          .where((eb) =>
            eb(
              eb.refTuple('project', 'issue_id'),
              'in',
              eb
                .selectFrom('landed')
                .select(['project', 'issue_id'])
                .where('at', '<', landedBefore)
                .orderBy('at')
                .limit(limit)
                .$asTuple('project', 'issue_id'),
            ),
          ),
      ),
  };
}
