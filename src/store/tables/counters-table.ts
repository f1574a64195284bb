import type { Kysely } from 'kysely';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import type { Counters } from './counters.ts';

export function countersTable(db: Kysely<Database>): Counters {
  const row = (key: IssueKey, name: string, value: number) => ({
    project: key.project,
    issue_id: key.issueId,
    name,
    value,
  });
  return {
    add: async (key, name, by) => {
      const written = await db
        .insertInto('counters')
        .values(row(key, name, by))
        .onConflict((conflict) =>
          conflict
            .columns(['project', 'issue_id', 'name'])
            .doUpdateSet((eb) => ({ value: eb('counters.value', '+', by) })),
        )
        .returning('value')
        .executeTakeFirstOrThrow();
      return written.value;
    },
    set: async (key, name, value) => {
      await db
        .insertInto('counters')
        .values(row(key, name, value))
        .onConflict((conflict) => conflict.columns(['project', 'issue_id', 'name']).doUpdateSet({ value }))
        .execute();
    },
    clear: async (key, names) => {
      if (names?.length === 0) return;
      const all = db.deleteFrom('counters').where('project', '=', key.project).where('issue_id', '=', key.issueId);
      await (names === undefined ? all : all.where('name', 'in', names)).execute();
    },
    read: async (key) => {
      const rows = await db
        .selectFrom('counters')
        .select(['name', 'value'])
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .orderBy('name')
        .execute();
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    },
    list: async (project) => {
      const rows = await db
        .selectFrom('counters')
        .selectAll()
        .where('project', '=', project)
        .orderBy('issue_id')
        .orderBy('name')
        .execute();
      return rows.map(({ issue_id, ...rest }) => ({ issueId: issue_id, ...rest }));
    },
  };
}
