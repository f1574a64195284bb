import { type CreateTableBuilder, type RawBuilder, sql } from 'kysely';
import type { Engine } from '../engine.ts';

/** All that the schema of one engine has otherwise than that of the other. */
export interface ColumnTypes {
  /** Whole numbers up to 2^53, so that JavaScript reads them exactly. */
  readonly integer: RawBuilder<unknown>;
  /** Compared and sorted by code point on both engines, whatever the language of the machine. */
  readonly text: RawBuilder<unknown>;
  /** A column `seq` that counts by itself and never gives a number twice. */
  withSeq<Name extends string>(table: CreateTableBuilder<Name, never>): CreateTableBuilder<Name, 'seq'>;
  /** What stands at the end of `create table`. */
  readonly tableEnd: RawBuilder<unknown>;
}

export function columnTypes(engine: Engine['name']): ColumnTypes {
  return engine === 'sqlite' ? sqliteTypes : postgresTypes;
}

const sqliteTypes: ColumnTypes = {
  integer: sql`integer`,
  text: sql`text`,
  withSeq: (table) => table.addColumn('seq', sql`integer`, (column) => column.primaryKey().autoIncrement().notNull()),
  // SQLite would otherwise keep text in a column of numbers without a word.
  tableEnd: sql`strict`,
};

const postgresTypes: ColumnTypes = {
  integer: sql`bigint`,
  text: sql`text collate "C"`,
  withSeq: (table) =>
    table.addColumn('seq', sql`bigint`, (column) => column.primaryKey().generatedByDefaultAsIdentity().notNull()),
  tableEnd: sql``,
};
