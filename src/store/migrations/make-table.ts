import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ColumnTypes } from './migration.ts';

/** A table. Columns are names with spaces between them; a `?` marks one that may be null. */
export interface TableSpec {
  readonly name: string;
  readonly text: string;
  readonly integer?: string;
  /** The columns of the primary key. A key `seq` alone is a column that counts by itself. */
  readonly key: string;
  /** SQL by name, and below too. */
  readonly constraints?: Readonly<Record<string, string>>;
  readonly indexes?: Readonly<Record<string, string>>;
  /** Unique indexes that concern some of the rows; others are constraints. */
  readonly uniqueIndexes?: Readonly<Record<string, string>>;
}

export async function makeTable(db: Kysely<unknown>, types: ColumnTypes, table: TableSpec): Promise<void> {
  const { name, text, integer, key, constraints = {}, indexes = {}, uniqueIndexes = {} } = table;
  const parts = [
    ...(key === 'seq' ? [types.seq] : []),
    ...words(text).map((word) => column(word, types.text)),
    ...words(integer ?? '').map((word) => column(word, types.integer)),
    ...(key === 'seq' ? [] : [sql`constraint ${sql.ref(`${name}_pkey`)} primary key (${columnList(key)})`]),
    ...Object.entries(constraints).map(([called, text]) => sql`constraint ${sql.ref(called)} ${sql.raw(text)}`),
  ];
  await sql`create table ${sql.table(name)} (${sql.join(parts)}) ${types.tableEnd}`.execute(db);
  for (const [called, text] of Object.entries(indexes)) {
    await sql`create index ${sql.ref(called)} on ${sql.table(name)} ${sql.raw(text)}`.execute(db);
  }
  for (const [called, text] of Object.entries(uniqueIndexes)) {
    await sql`create unique index ${sql.ref(called)} on ${sql.table(name)} ${sql.raw(text)}`.execute(db);
  }
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

function column(word: string, type: RawBuilder<unknown>): RawBuilder<unknown> {
  return word.endsWith('?') ? sql`${sql.ref(word.slice(0, -1))} ${type}` : sql`${sql.ref(word)} ${type} not null`;
}

function columnList(text: string): RawBuilder<unknown> {
  return sql.join(words(text).map((word) => sql.ref(word)));
}
