import type { Kysely } from 'kysely';
import type { Author } from '../../core/issue/author.ts';
import type { IssueKey } from '../issue-key.ts';
import { authorFrom } from '../json.ts';
import type { Database } from '../schema.ts';
import { changedOne, ofIssue } from './statements.ts';

export interface Pin extends IssueKey {
  readonly identifier: string;
  readonly since: number;
  readonly author: Author;
}

/** Issues whose workspace stays until a person says otherwise. */
export function pinsTable(db: Kysely<Database>) {
  return {
    /** An issue that is pinned already stays as it is. */
    put: async ({ project, issueId, identifier, since, author }: Pin): Promise<void> => {
      await db
        .insertInto('pins')
        .values({ project, issue_id: issueId, identifier, since, author_json: JSON.stringify(author) })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doNothing())
        .execute();
    },

    /** False when it was not pinned. */
    remove: (key: IssueKey): Promise<boolean> => changedOne(db.deleteFrom('pins').where(ofIssue(key))),

    /** In the order of their ids. */
    list: async (project: string): Promise<readonly Pin[]> => {
      const rows = await db.selectFrom('pins').selectAll().where('project', '=', project).orderBy('issue_id').execute();
      return rows.map(({ issue_id: issueId, author_json, ...row }) => ({
        ...row,
        issueId,
        author: authorFrom(author_json),
      }));
    },
  };
}
