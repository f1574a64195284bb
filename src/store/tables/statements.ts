import {
  type DeleteResult,
  type Expression,
  expressionBuilder,
  type InsertResult,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
  type UpdateResult,
} from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import type { Engine } from '../engine.ts';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';

/** Made once: each has a function for everything that an expression can be. */
const inClaims = expressionBuilder<Database, 'claims'>();

/** The rows of one issue, in any table that has both columns. */
export function ofIssue({ project, issueId }: IssueKey): Expression<SqlBool> {
  return inClaims.and({ project, issue_id: issueId });
}

/**
 * Reads that each tick or poll repeats: while nothing was written to the tables they answer as before, if finding that out
 * takes less time than reading. For the tables over one connection only.
 */
export function repeatedReads<T>(engine: Pick<Engine, 'changeMark'>, ...tables: readonly (keyof Database)[]) {
  const known = new Map<string, { readonly mark: string; readonly answer: T }>();
  return async (key: string, read: () => Promise<T>): Promise<T> => {
    // Before the rows are read: a write in between changes the next mark.
    const marks = tables.map((table) => engine.changeMark(table));
    const mark = marks.includes(null) ? null : marks.join();
    const last = known.get(key);
    if (mark !== null && last?.mark === mark) return last.answer;
    const answer = await read();
    if (mark !== null) known.set(key, { mark, answer });
    return answer;
  };
}

interface Change {
  executeTakeFirst(): Promise<InsertResult | UpdateResult | DeleteResult>;
}

/** Executes a statement and returns how many rows it changed. */
export async function changedRows(change: Change): Promise<number> {
  const result = await change.executeTakeFirst();
  if ('numUpdatedRows' in result) return Number(result.numUpdatedRows);
  return Number('numDeletedRows' in result ? result.numDeletedRows : result.numInsertedOrUpdatedRows);
}

export async function changedOne(change: Change): Promise<boolean> {
  return (await changedRows(change)) === 1;
}

/** How many rows a query finds. */
export async function countIn<Table extends keyof Database>(
  found: SelectQueryBuilder<Database, Table, object>,
): Promise<number> {
  const { rows } = await found.select(sql<number>`count(*)`.as('rows')).executeTakeFirstOrThrow();
  return Number(rows);
}

/** A list in parts that one statement can take: engines limit the number of parameters. */
export function inParts<T>(all: readonly T[], mostItems = 500): T[][] {
  const parts: T[][] = [];
  for (let from = 0; from < all.length; from += mostItems) parts.push(all.slice(from, from + mostItems));
  return parts;
}

/** Runs several statements as one: inside the open transaction, or in a new one. */
export function atomically<T>(db: Kysely<Database>, work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

/**
 * Reads a row and locks it until the transaction ends. Another transaction that has the lock is waited for, and its
 * changes are read. On SQLite a transaction is alone from its beginning (it begins immediate).
 */
export async function lockedRow<Table extends keyof Database, Row>(
  db: Kysely<Database>,
  engine: Engine['name'],
  wanted: SelectQueryBuilder<Database, Table, Row>,
): Promise<Row | undefined> {
  // Outside of a transaction the lock would end with the statement, and the caller would not notice.
  if (!db.isTransaction) throw new BatonError('internal_error', 'A row can be locked only inside a transaction.');
  return (await (engine === 'postgres' ? wanted.forUpdate() : wanted).executeTakeFirst()) as Row | undefined;
}

/**
 * Whether a column contains a text literally: `%` and `_` have no special meaning. Both engines lower ASCII letters
 * alone, so the same is done to the text.
 */
export function hasText(column: string, text: string): RawBuilder<boolean> {
  const lowered = text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const pattern = `%${lowered.replaceAll(/[\\%_]/g, (letter) => `\\${letter}`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}
