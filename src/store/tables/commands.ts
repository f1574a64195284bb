import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { CommandAnswer } from '../../core/command/command-answers.ts';
import type { Author } from '../../core/issue/author.ts';
import type { Engine } from '../engine.ts';
import { authorFrom, recordIn, valueFromText } from '../json.ts';
import type { Database } from '../schema.ts';
import { changedOne, changedRows, countIn, repeatedReads } from './statements.ts';

export interface CommandDraft {
  readonly id: string;
  readonly project: string;
  /** What is asked for, such as `pause` or `issue_retry`. */
  readonly kind: string;
  /** Its arguments, JSON data. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly author: Author;
  readonly at: number;
  readonly key: string | null;
}

export interface Command extends CommandDraft {
  readonly seq: number;
  /** While it has no result: the act that its last try was about to do; null for none. */
  readonly begun: string | null;
  /** Null while it waits. */
  readonly result: CommandResult | null;
}

export interface CommandResult extends CommandAnswer {
  readonly at: number;
}

export interface OutlineQuery {
  readonly limit: number;
  readonly doneKinds?: readonly string[];
}

type Row = Selectable<Database['commands']>;

/**
 * Requests to change scheduling state. Any process writes them; the orchestrator alone executes them, once, in the order
 * of their number. A command without a result waits.
 */
export function commandsTable(db: Kysely<Database>, engine: Engine) {
  const waitingOnes = repeatedReads<readonly Command[]>(engine, 'commands');
  const latestOnes = repeatedReads<Command | null>(engine, 'commands');
  const old = (executedBefore: number) =>
    db.selectFrom('commands').where('result_at', '<', executedBefore).where('seq', 'not in', latestOfEachKind(db));
  const waits = (id: string) => db.updateTable('commands').where('id', '=', id).where('result_at', 'is', null);
  return {
    /** With a `key` that is known already nothing is written and the earlier command is given. */
    submit: async (draft: CommandDraft): Promise<{ readonly command: Command; readonly created: boolean }> => {
      const { id, project, kind, payload, author, at, key } = draft;
      const written = await db
        .insertInto('commands')
        .values({
          id,
          project,
          kind,
          payload_json: JSON.stringify(payload),
          author_json: JSON.stringify(author),
          at,
          key,
        })
        .onConflict((conflict) => conflict.columns(['project', 'key']).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (written !== undefined) return { command: commandFrom(written), created: true };
      const known = await db
        .selectFrom('commands')
        .selectAll()
        .where('project', '=', project)
        .where('key', '=', key)
        .executeTakeFirstOrThrow();
      return { command: commandFrom(known), created: false };
    },

    read: async (id: string): Promise<Command | null> => {
      const row = await db.selectFrom('commands').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : commandFrom(row);
    },

    /** The oldest first. */
    waiting: (project: string, limit: number): Promise<readonly Command[]> =>
      waitingOnes(`${limit} ${project}`, async () => {
        const rows = await db
          .selectFrom('commands')
          .selectAll()
          .where('project', '=', project)
          .where('result_at', 'is', null)
          .orderBy('seq')
          .limit(limit)
          .execute();
        return rows.map(commandFrom);
      }),

    /** Records the act that is about to be done, before it is; null takes that back. False when it has a result already. */
    begin: (id: string, act: string | null): Promise<boolean> => changedOne(waits(id).set({ result_text: act })),

    /** Writes the result once; false when it has one already. */
    finish: (id: string, { at, status, code, text, data }: CommandResult): Promise<boolean> =>
      changedOne(
        waits(id).set({
          result_at: at,
          result_status: status,
          result_code: code,
          result_text: text,
          result_data_json: JSON.stringify(data),
        }),
      ),

    /** The newest of these kinds that was done; it stays when older commands are pruned. */
    latestDone: async (project: string, kinds: readonly string[]): Promise<Command | null> => {
      if (kinds.length === 0) return null;
      return latestOnes(`${kinds.join(' ')} ${project}`, async () => {
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
      });
    },

    /** Newest first. */
    list: async (project: string, limit: number): Promise<readonly Command[]> => {
      const rows = await db
        .selectFrom('commands')
        .selectAll()
        .where('project', '=', project)
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute();
      return rows.map(commandFrom);
    },

    /**
     * Newest first, in outline: of a payload only the texts `issue`, `question` and `reason`, and the beginning of `text`
     * and `note`, which may be long. With `doneKinds` only those of these kinds that were done; others are not even read.
     */
    outlines: async (project: string, { limit, doneKinds }: OutlineQuery): Promise<readonly Command[]> => {
      if (doneKinds?.length === 0) return [];
      const rows = await db
        .selectFrom('commands')
        .select(['seq', 'id', 'project', 'kind', 'author_json', 'at', 'key'])
        .select(['result_at', 'result_status', 'result_text', 'result_code', 'result_data_json'])
        .select(outlined.map((name) => payloadText(engine.name, name).as(name)))
        .where('seq', 'in', newest(db, project, limit, doneKinds))
        .orderBy('seq', 'desc')
        .execute();
      return rows.map(({ issue, question, reason, text, note, ...row }) => {
        const payload = Object.entries({ issue, question, reason, text, note }).filter(([, value]) => value !== null);
        return commandFrom({ ...row, payload_json: JSON.stringify(Object.fromEntries(payload)) });
      });
    },

    /** Removes at most `limit` executed ones older than this; gives how many. */
    prune: (executedBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('commands')
          .where('seq', 'in', old(executedBefore).select('seq').orderBy('result_at').limit(limit)),
      ),

    countOld: (executedBefore: number): Promise<number> => countIn(old(executedBefore)),
  };
}

/** The last done command of each kind is the present state, such as paused or not: it is never too old. */
function latestOfEachKind(db: Kysely<Database>) {
  return db
    .selectFrom('commands as latest')
    .select((eb) => eb.fn.max('latest.seq').as('seq'))
    .where('latest.result_status', '=', 'done')
    .groupBy(['latest.project', 'latest.kind']);
}

/** Refused commands, and those of another kind, are not read, however large they are. */
function newest(db: Kysely<Database>, project: string, limit: number, doneKinds: readonly string[] | undefined) {
  const query = db.selectFrom('commands').select('seq').where('project', '=', project).limit(limit);
  if (doneKinds === undefined) return query.orderBy('seq', 'desc');
  return (
    query
      // A literal, as the index of done commands has it; and the plus keeps SQLite from using the index by seq.
      .where('result_status', '=', sql.lit('done' as const))
      .where('kind', 'in', [...doneKinds])
      .orderBy(sql`+seq`, 'desc')
  );
}

/** The texts of a payload that an outline has. */
const outlined = ['issue', 'question', 'reason', 'text', 'note'] as const;
/** Longer texts are cut, and messages earlier than the others. */
const mostChars = 2_000;
const mostMessageChars = 500;

/** A text of the payload; null if it is not a text. PostgreSQL fails to read JSON text that ends in half a character. */
function payloadText(engine: Engine['name'], name: (typeof outlined)[number]): RawBuilder<string | null> {
  const most = name === 'text' || name === 'note' ? mostMessageChars : mostChars;
  if (engine === 'sqlite') {
    const path = `$.${name}`;
    return sql`case when json_type(payload_json, ${path}) = 'text'
      then substr(json_extract(payload_json, ${path}), 1, ${most}) end`;
  }
  return sql`case when payload_json ~ ${String.raw`\\u(0000|d[89a-f])`} then null
    when json_typeof(payload_json::json -> ${sql.lit(name)}) = 'string'
    then substr(payload_json::json ->> ${sql.lit(name)}, 1, ${sql.lit(most)}) end`;
}

function commandFrom(row: Row): Command {
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
    // Until there is a result, its text is the act that was begun.
    begun: row.result_at === null ? row.result_text : null,
    result: resultFrom(row),
  };
}

function resultFrom(row: Row): CommandResult | null {
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
