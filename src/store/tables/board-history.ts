import type { Kysely } from 'kysely';
import type { Author } from '../../core/issue/author.ts';
import type { IssueKey } from '../issue-key.ts';
import { authorFrom, fromJsonText, toJsonText } from '../json.ts';
import type { Database } from '../schema.ts';
import { ofIssue } from './statements.ts';

export interface BoardHistoryEntry {
  readonly seq: number;
  readonly at: number;
  readonly author: Author;
  /** What changed: a field, `status`, or `created`. */
  readonly field: string;
  /** JSON values; null where there was none. */
  readonly from: unknown;
  readonly to: unknown;
  readonly reason: string | null;
}

/** Every change of the board's issues, never changed itself. Replayed from the first entry it gives the present issue. */
export function boardHistoryTable(db: Kysely<Database>) {
  return {
    add: async (key: IssueKey, entry: Omit<BoardHistoryEntry, 'seq'>): Promise<void> => {
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

    list: async (key: IssueKey): Promise<readonly BoardHistoryEntry[]> => {
      const rows = await db.selectFrom('board_history').selectAll().where(ofIssue(key)).orderBy('seq').execute();
      return rows.map(({ seq, at, author_json, field, from_json, to_json, reason }) => ({
        seq,
        at,
        author: authorFrom(author_json),
        field,
        from: fromJsonText(from_json),
        to: fromJsonText(to_json),
        reason,
      }));
    },
  };
}
