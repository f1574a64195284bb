import type { Kysely, Selectable } from 'kysely';
import { authorFrom } from '../json-text.ts';
import type { Database } from '../schema.ts';
import type { BoardComment, BoardComments } from './board-comments.ts';

export function boardCommentsTable(db: Kysely<Database>): BoardComments {
  return {
    add: async (key, comment) => {
      const row = await db
        .insertInto('board_comments')
        .values({
          project: key.project,
          issue_id: key.issueId,
          author_json: JSON.stringify(comment.author),
          body: comment.body,
          at: comment.at,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return commentFrom(row);
    },
    list: async (key) => {
      const rows = await db
        .selectFrom('board_comments')
        .selectAll()
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .orderBy('seq')
        .execute();
      return rows.map(commentFrom);
    },
  };
}

function commentFrom(row: Selectable<Database['board_comments']>): BoardComment {
  return { seq: row.seq, author: authorFrom(row.author_json), body: row.body, at: row.at };
}
