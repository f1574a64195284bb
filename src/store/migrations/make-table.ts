import type { CreateTableBuilder, Kysely } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** `text` or `integer`, with a `?` where it may be null. */
export type Columns = Readonly<Record<string, 'text' | 'text?' | 'integer' | 'integer?'>>;

type Table = CreateTableBuilder<string, string>;

/** A table with these columns, to which its keys are still to be added. */
export function tableWith(db: Kysely<unknown>, types: ColumnTypes, name: string, columns: Columns): Table {
  return addColumns(db.schema.createTable(name), types, columns);
}

/** The same, after a first column `seq` that counts by itself and is the key. */
export function countedTableWith(db: Kysely<unknown>, types: ColumnTypes, name: string, columns: Columns): Table {
  return addColumns(types.withSeq(db.schema.createTable(name)), types, columns);
}

export async function makeIndex(
  db: Kysely<unknown>,
  name: string,
  table: string,
  columns: readonly string[],
): Promise<void> {
  await db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
    .execute();
}

function addColumns(table: CreateTableBuilder<string, never>, types: ColumnTypes, columns: Columns): Table {
  // A builder that knows of columns may be used as one that knows of none yet, and the other way round.
  let made = table as Table;
  for (const [name, kind] of Object.entries(columns)) {
    const type = kind.startsWith('text') ? types.text : types.integer;
    made = made.addColumn(name, type, (column) => (kind.endsWith('?') ? column : column.notNull()));
  }
  return made.modifyEnd(types.tableEnd);
}
