import type { Kysely, Selectable } from 'kysely';
import type { Engine } from '../engine.ts';
import { authorFrom } from '../json-text.ts';
import { recordIn, valueFromText } from '../read-json.ts';
import type { Database } from '../schema.ts';
import type { Command, CommandResult, Commands } from './commands.ts';
import { outlineRows } from './outline-commands.ts';

export function commandsTable(db: Kysely<Database>, engine: Engine): Commands {
  /** Of projects for which nothing waited: the mark of then. Each tick asks, and mostly nobody has written anything. */
  const nothingWaited = new Map<string, string>();
  return {
    submit: async (draft) => {
      const written = await db
        .insertInto('commands')
        .values({
          id: draft.id,
          project: draft.project,
          kind: draft.kind,
          payload_json: JSON.stringify(draft.payload),
          author_json: JSON.stringify(draft.author),
          at: draft.at,
          key: draft.key,
        })
        .onConflict((conflict) => conflict.columns(['project', 'key']).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (written !== undefined) return { command: commandFrom(written), created: true };
      const known = await db
        .selectFrom('commands')
        .selectAll()
        .where('project', '=', draft.project)
        .where('key', '=', draft.key)
        .executeTakeFirstOrThrow();
      return { command: commandFrom(known), created: false };
    },

    read: async (id) => {
      const row = await db.selectFrom('commands').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : commandFrom(row);
    },

    waiting: async (project, limit) => {
      // Before the rows are read: what is written in between changes the next mark.
      const mark = engine.changeMark('commands');
      if (mark !== null && nothingWaited.get(project) === mark) return [];
      const rows = await db
        .selectFrom('commands')
        .selectAll()
        .where('project', '=', project)
        .where('result_at', 'is', null)
        .orderBy('seq')
        .limit(limit)
        .execute();
      if (mark !== null && rows.length === 0 && limit > 0) nothingWaited.set(project, mark);
      return rows.map(commandFrom);
    },

    begin: async (id, what) => {
      const done = await db
        .updateTable('commands')
        .set({ result_text: what })
        .where('id', '=', id)
        .where('result_at', 'is', null)
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    finish: async (id, result) => {
      const done = await db
        .updateTable('commands')
        .set({
          result_at: result.at,
          result_status: result.status,
          result_code: result.code,
          result_text: result.text,
          result_data_json: JSON.stringify(result.data),
        })
        .where('id', '=', id)
        .where('result_at', 'is', null)
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    latestDone: async (project, kinds) => {
      if (kinds.length === 0) return null;
      const row = await db
        .selectFrom('commands')
        .selectAll()
        .where('project', '=', project)
        .where('kind', 'in', [...kinds])
        .where('result_status', '=', 'done')
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? null : commandFrom(row);
    },

    list: async (project, limit) => {
      const rows = await db
        .selectFrom('commands')
        .selectAll()
        .where('project', '=', project)
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute();
      return rows.map(commandFrom);
    },

    outlines: async (project, query) => (await outlineRows(db, engine.name, project, query)).map(commandFrom),

    prune: async (executedBefore, limit) => {
      const done = await db
        .deleteFrom('commands')
        .where('seq', 'in', (eb) =>
          eb
            .selectFrom('commands')
            .select('seq')
            .where('result_at', '<', executedBefore)
            .where('seq', 'not in', latestOfEachKind(db))
            .orderBy('result_at')
            .limit(limit),
        )
        .executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}

/** What was done last of each kind tells how things stand, such as paused or not: it is never too old. */
function latestOfEachKind(db: Kysely<Database>) {
  return db
    .selectFrom('commands as latest')
    .select((eb) => eb.fn.max('latest.seq').as('seq'))
    .where('latest.result_status', '=', 'done')
    .groupBy(['latest.project', 'latest.kind']);
}

function commandFrom(row: Selectable<Database['commands']>): Command {
  return {
    id: row.id,
    project: row.project,
    kind: row.kind,
    // Written by `submit` from a record.
    payload: JSON.parse(row.payload_json) as Record<string, unknown>,
    author: authorFrom(row.author_json),
    at: row.at,
    key: row.key,
    seq: row.seq,
    // Until there is a result, its text is what was begun.
    begun: row.result_at === null ? row.result_text : null,
    result: resultFrom(row),
  };
}

function resultFrom(row: Selectable<Database['commands']>): CommandResult | null {
  // The three are written together.
  if (row.result_at === null || row.result_status === null || row.result_code === null) return null;
  return {
    at: row.result_at,
    status: row.result_status,
    code: row.result_code,
    text: row.result_text ?? '',
    data: recordIn(valueFromText(row.result_data_json)),
  };
}
