import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import { allTables, countsBySeq, type TableOfStore } from '../all-tables.ts';
import type { Engine } from '../engine.ts';
import { openMigrated } from '../open-store.ts';
import type { Database } from '../schema.ts';
import { describeLocation, parseStoreUrl } from '../store-url.ts';

/** Rows in one statement; the widest table has some 30 columns, and each is a parameter. */
const rowsABatch = 200;

export interface CopyStoreOptions {
  readonly fromUrl: string;
  readonly toUrl: string;
  readonly clock: Clock;
  readonly logger?: Logger;
}

/**
 * Copies everything into an empty store, whatever the two engines are, in one transaction: the target has all or
 * nothing. An SQLite file on either side must not be in use by a daemon: what it wrote meanwhile would be missing.
 * Gives the number of rows by table.
 */
export async function copyStore(options: CopyStoreOptions): Promise<Readonly<Record<string, number>>> {
  const from = parseStoreUrl(options.fromUrl);
  const to = parseStoreUrl(options.toUrl);
  if (describeLocation(from) === describeLocation(to)) {
    throw new BatonError('store_not_empty', `${describeLocation(to)} cannot be copied onto itself.`);
  }
  const asOwner = { ...options, mode: 'daemon' } as const;
  const source = await openMigrated(from, asOwner);
  try {
    const target = await openMigrated(to, asOwner);
    try {
      return await copyAll(source, target, describeLocation(to));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function copyAll(source: Engine, target: Engine, place: string): Promise<Record<string, number>> {
  const reading = source.db.transaction();
  // One moment of the source, whatever is written meanwhile. SQLite always gives that.
  const steady = source.name === 'postgres' ? reading.setIsolationLevel('repeatable read') : reading;
  return steady.execute((old) =>
    target.db.transaction().execute(async (fresh) => {
      await refuseUsed(fresh, place);
      return copyTables(old, fresh, target.name);
    }),
  );
}

/** Copies every table into tables that are empty, and counts what arrived. */
export async function copyTables(
  old: Kysely<Database>,
  fresh: Kysely<Database>,
  engine: Engine['name'],
): Promise<Record<string, number>> {
  const copied: Record<string, number> = {};
  for (const table of allTables) {
    await copyTable(old, fresh, table);
    copied[table.name] = await verifiedCount(old, fresh, table);
    if (engine === 'postgres' && countsBySeq(table)) await countOn(fresh, table);
  }
  return copied;
}

async function refuseUsed(db: Kysely<Database>, place: string): Promise<void> {
  for (const { name } of allTables) {
    if ((await countOf(db, name)) > 0) throw new BatonError('store_not_empty', `${place} already has data (${name}).`);
  }
}

async function copyTable(old: Kysely<Database>, fresh: Kysely<Database>, table: TableOfStore): Promise<void> {
  const name = sql.table(table.name);
  const key = sql.join(table.key.map((column) => sql.ref(column)));
  let after = sql``;
  for (;;) {
    const { rows } = await sql<Record<string, unknown>>`
      select * from ${name} ${after} order by ${key} limit ${sql.lit(rowsABatch)}`.execute(old);
    const last = rows.at(-1);
    if (last === undefined) return;
    const columns = Object.keys(last);
    const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
    await sql`
      insert into ${name} (${sql.join(columns.map((column) => sql.ref(column)))}) values ${sql.join(values)}`.execute(
      fresh,
    );
    after = sql`where (${key}) > (${sql.join(table.key.map((column) => last[column]))})`;
  }
}

async function verifiedCount(old: Kysely<Database>, fresh: Kysely<Database>, table: TableOfStore): Promise<number> {
  const [expected, found] = [await countOf(old, table.name), await countOf(fresh, table.name)];
  if (expected === found) return found;
  throw new BatonError(
    'store_failed',
    `Only ${found} of ${expected} rows of ${table.name} were copied, so the copy was rolled back.`,
  );
}

async function countOf(db: Kysely<Database>, table: TableOfStore['name']): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** PostgreSQL does not count numbers that it was given: its next own number would be taken already. */
async function countOn(db: Kysely<Database>, table: TableOfStore): Promise<void> {
  await sql`
    select setval(pg_get_serial_sequence(${table.name}, 'seq'), coalesce(max(seq), 0) + 1, false)
    from ${sql.table(table.name)}`.execute(db);
}
