import type { Kysely } from 'kysely';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import { ofIssue } from './statements.ts';

export type Counters = ReturnType<typeof countersTable>;

const key = ['project', 'issue_id', 'name'] as const;

/** Up to when a run that ended well knew the comments. Not a count: a release does not change what agents have read. */
export const commentsUntil = 'comments_until';

/** Numbers per issue that must survive a restart, such as failures in a row. */
export function countersTable(db: Kysely<Database>) {
  const setAll = async ({ project, issueId }: IssueKey, values: Readonly<Record<string, number>>): Promise<void> => {
    await db
      .insertInto('counters')
      .values(Object.entries(values).map(([name, value]) => ({ project, issue_id: issueId, name, value })))
      .onConflict((conflict) => conflict.columns(key).doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })))
      .execute();
  };
  return {
    /** The value after adding. */
    add: async ({ project, issueId }: IssueKey, name: string, by: number): Promise<number> => {
      const written = await db
        .insertInto('counters')
        .values({ project, issue_id: issueId, name, value: by })
        .onConflict((conflict) => conflict.columns(key).doUpdateSet((eb) => ({ value: eb('counters.value', '+', by) })))
        .returning('value')
        .executeTakeFirstOrThrow();
      return written.value;
    },

    set: (issue: IssueKey, name: string, value: number): Promise<void> => setAll(issue, { [name]: value }),

    /** Several counters at once; at least one. */
    setAll,

    /** Forgets these counters of the issue; all of them without `names`. */
    clear: async (issue: IssueKey, names?: readonly string[]): Promise<void> => {
      if (names?.length === 0) return;
      const all = db.deleteFrom('counters').where(ofIssue(issue));
      await (names === undefined ? all : all.where('name', 'in', names)).execute();
    },

    read: async (issue: IssueKey): Promise<Readonly<Record<string, number>>> => {
      const rows = await db
        .selectFrom('counters')
        .select(['name', 'value'])
        .where(ofIssue(issue))
        .orderBy('name')
        .execute();
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    },

    list: (project: string): Promise<readonly (IssueKey & { readonly name: string; readonly value: number })[]> =>
      db
        .selectFrom('counters')
        .select(['project', 'issue_id as issueId', 'name', 'value'])
        .where('project', '=', project)
        .orderBy('issue_id')
        .orderBy('name')
        .execute(),
  };
}
