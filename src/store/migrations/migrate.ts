import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../clock/clock.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { columnTypes, type Migration } from './migration.ts';
import { migrations } from './migrations.ts';
import { type AppliedMigration, knownVersion } from './refuse-unknown.ts';

/** Of PostgreSQL's advisory locks, the one that says "Baton migrates here". Any number that no other program uses. */
const migrationLock = 4_270_001;

/**
 * Brings the store to the version of this Baton, all or nothing. The second process waits for the lock, then finds
 * nothing left to do: on SQLite the lock is the immediate transaction itself, on PostgreSQL an advisory one inside it.
 * Gives the versions before and after.
 */
export async function migrate(
  engine: Engine,
  place: string,
  clock: Clock,
  steps: readonly Migration[] = migrations,
): Promise<{ readonly from: number; readonly to: number }> {
  const found = knownVersion(await appliedMigrations(engine), place);
  if (found >= steps.length) return { from: found, to: found };
  return await engine.db.transaction().execute(async (db) => {
    const types = columnTypes(engine.name);
    if (engine.name === 'postgres') await lockPostgres(db);
    await db.schema
      .createTable('baton_migrations')
      .ifNotExists()
      .addColumn('number', types.integer, (column) => column.primaryKey().notNull())
      .addColumn('name', types.text, (column) => column.notNull())
      .addColumn('applied_at', types.integer, (column) => column.notNull())
      .modifyEnd(types.tableEnd)
      .execute();
    const from = knownVersion(await readApplied(db), place);
    for (const [index, step] of steps.entries()) {
      const number = index + 1;
      if (number <= from) continue;
      // The step knows nothing of the types of today's tables: it made them, or those before them.
      await step.up(db as unknown as Kysely<unknown>, types);
      await db.insertInto('baton_migrations').values({ number, name: step.name, applied_at: clock.now() }).execute();
    }
    return { from, to: steps.length };
  });
}

/** What a store has run; nothing for one that has nothing yet. Changes nothing. */
export async function appliedMigrations(engine: Engine): Promise<readonly AppliedMigration[]> {
  const found =
    engine.name === 'sqlite'
      ? await sql<{
          found: number;
        }>`select count(*) as found from sqlite_schema where name = 'baton_migrations'`.execute(engine.db)
      : await sql<{ found: number }>`select count(to_regclass('baton_migrations')) as found`.execute(engine.db);
  return found.rows[0]?.found === 1 ? await readApplied(engine.db) : [];
}

function readApplied(db: Kysely<Database>): Promise<readonly AppliedMigration[]> {
  return db.selectFrom('baton_migrations').select(['number', 'name']).orderBy('number').execute();
}

/** Another process may migrate a large store for longer than a statement may take otherwise. */
async function lockPostgres(db: Kysely<Database>): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(db);
}
