import type { Kysely, Selectable } from 'kysely';
import type { Author } from '../../core/issue/author.ts';
import type { IssueKey } from '../issue-key.ts';
import { authorFrom } from '../json.ts';
import type { Database } from '../schema.ts';
import { ofIssue } from './statements.ts';

export interface BoardComment {
  /** Grows with each comment of the store. */
  readonly seq: number;
  readonly author: Author;
  readonly body: string;
  readonly at: number;
}

/** The comments on the board's issues. */
export function boardCommentsTable(db: Kysely<Database>) {
  return {
    add: async (
      { project, issueId }: IssueKey,
      { author, body, at }: Omit<BoardComment, 'seq'>,
    ): Promise<BoardComment> => {
      const row = await db
        .insertInto('board_comments')
        .values({ project, issue_id: issueId, author_json: JSON.stringify(author), body, at })
        .returningAll()
        .executeTakeFirstOrThrow();
      return commentFrom(row);
    },

    list: async (key: IssueKey): Promise<readonly BoardComment[]> => {
      const rows = await db.selectFrom('board_comments').selectAll().where(ofIssue(key)).orderBy('seq').execute();
      return rows.map(commentFrom);
    },
  };
}

function commentFrom(row: Selectable<Database['board_comments']>): BoardComment {
  return { seq: row.seq, author: authorFrom(row.author_json), body: row.body, at: row.at };
}
