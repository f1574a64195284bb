import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import type { OutlineQuery } from './commands.ts';

type CommandRow = Selectable<Database['commands']>;

/** What is told of a payload. */
const outlined = ['issue', 'question', 'reason', 'text', 'note'] as const;
/** Of each; a reason may be longer, a name is not. What was said is only begun. */
const mostChars = 2_000;
const mostSaidChars = 500;

/** Commands, newest first, with a payload that has no more than these texts: the database itself leaves out the rest. */
export async function outlineRows(
  db: Kysely<Database>,
  engine: Engine['name'],
  project: string,
  { limit, doneKinds }: OutlineQuery,
): Promise<readonly CommandRow[]> {
  if (doneKinds?.length === 0) return [];
  const rows = await db
    .selectFrom('commands')
    .select(['seq', 'id', 'project', 'kind', 'author_json', 'at', 'key'])
    .select(['result_at', 'result_status', 'result_text', 'result_code', 'result_data_json'])
    .select(outlined.map((name) => textIn(engine, name).as(name)))
    .where('seq', 'in', newest(db, project, { limit, ...(doneKinds === undefined ? {} : { doneKinds }) }))
    .orderBy('seq', 'desc')
    .execute();
  return rows.map(({ issue, question, reason, text: said, note, ...row }) => ({
    ...row,
    payload_json: JSON.stringify(
      Object.fromEntries(
        Object.entries({ issue, question, reason, text: said, note }).filter(([, value]) => value !== null),
      ),
    ),
  }));
}

/** What is refused, or of another kind, is not read, however large it is. */
function newest(db: Kysely<Database>, project: string, { limit, doneKinds }: OutlineQuery) {
  const query = db.selectFrom('commands').select('seq').where('project', '=', project).limit(limit);
  if (doneKinds === undefined) return query.orderBy('seq', 'desc');
  return (
    query
      // Written out, as the index of what was done has it; and the plus keeps SQLite from the one that is in order.
      .where('result_status', '=', sql.lit('done' as const))
      .where('kind', 'in', [...doneKinds])
      .orderBy(sql`+seq`, 'desc')
  );
}

/** A text of the payload; null where it is none. PostgreSQL reads no text out of JSON that has half a character in it. */
function textIn(engine: Engine['name'], name: (typeof outlined)[number]): RawBuilder<string | null> {
  const most = name === 'text' || name === 'note' ? mostSaidChars : mostChars;
  if (engine === 'sqlite') {
    const path = `$.${name}`;
    return sql`case when json_type(payload_json, ${path}) = 'text'
      then substr(json_extract(payload_json, ${path}), 1, ${most}) end`;
  }
  return sql`case when payload_json ~ ${String.raw`\\u(0000|d[89a-f])`} then null
    when json_typeof(payload_json::json -> ${sql.lit(name)}) = 'string'
    then substr(payload_json::json ->> ${sql.lit(name)}, 1, ${sql.lit(most)}) end`;
}
