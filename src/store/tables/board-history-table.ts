import type { Kysely } from 'kysely';
import { authorFrom, fromJsonText, toJsonText } from '../json-text.ts';
import type { Database } from '../schema.ts';
import type { BoardHistory } from './board-history.ts';

export function boardHistoryTable(db: Kysely<Database>): BoardHistory {
  return {
    add: async (key, entry) => {
      await db
        .insertInto('board_history')
        .values({
          project: key.project,
          issue_id: key.issueId,
          at: entry.at,
          author_json: JSON.stringify(entry.author),
          field: entry.field,
          from_json: toJsonText(entry.from),
          to_json: toJsonText(entry.to),
          reason: entry.reason,
        })
        .execute();
    },
    list: async (key) => {
      const rows = await db
        .selectFrom('board_history')
        .selectAll()
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .orderBy('seq')
        .execute();
      return rows.map((row) => ({
        seq: row.seq,
        at: row.at,
        author: authorFrom(row.author_json),
        field: row.field,
        from: fromJsonText(row.from_json),
        to: fromJsonText(row.to_json),
        reason: row.reason,
      }));
    },
  };
}
