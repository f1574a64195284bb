import type { Kysely } from 'kysely';
import { cutToBytes } from '../cut-text.ts';
import type { Database } from '../schema.ts';
import type { Landed, LandedIssue } from './landed.ts';

/** Bytes of a title that are kept. */
const longestTitle = 1_024;

export function landedTable(db: Kysely<Database>): Landed {
  return {
    note: async (entry, openAt) => {
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
      const row = await db
        .selectFrom('landed')
        .selectAll()
        .where('project', '=', project)
        .where('issue_id', '=', issueId)
        .executeTakeFirst();
      // Somebody may have removed it meanwhile.
      return row === undefined ? { ...entry, title } : landedFrom(row);
    },

    latest: async (project, { from, limit }) => {
      const rows = await db
        .selectFrom('landed')
        .selectAll()
        .where('project', '=', project)
        .where('at', '>=', from)
        .orderBy('at', 'desc')
        .orderBy('issue_id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(landedFrom).toReversed();
    },

    prune: async (landedBefore, limit) => {
      const done = await db
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
        )
        .executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}

function landedFrom({ issue_id: issueId, ...row }: Database['landed']): LandedIssue {
  const { project, identifier, title, url, state, at } = row;
  return { project, issueId, identifier, title, url, state, at };
}
