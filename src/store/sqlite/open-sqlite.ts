import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { checkSqlite } from './check-sqlite.ts';
import { type InstanceLock, makePrivateFile, takeInstanceLock } from './instance-lock.ts';
import { maintainSqlite } from './maintain-sqlite.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { sqliteError } from './sqlite-errors.ts';
import { TableWrites } from './table-writes.ts';
import { blockingTimeoutMs, whenFree } from './when-free.ts';

/** The write-ahead log is cut back to this after a checkpoint; a single large transaction may have made it longer. */
const walLimitBytes = 64 * 1024 * 1024;

/**
 * Opens the file, making it and its folder when they are not there. Checks before it changes anything: a file
 * that is no database, is damaged, or is of another program or a newer Baton is refused and left as it was.
 *
 * What must hold: this process never opens the file in another way while it is open here, not even to read it. Closing
 * that other handle would end SQLite's own locks (that is how POSIX locks are).
 */
export async function openSqlite(file: string, mode: 'daemon' | 'visitor', clock: Clock): Promise<Engine> {
  let lock: InstanceLock | undefined;
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    if (mode === 'daemon') lock = takeInstanceLock(file);
    makePrivateFile(file);
    const opened = new DatabaseSync(file, { timeout: blockingTimeoutMs, enableForeignKeyConstraints: true });
    database = opened;
    await whenFree(clock, file, () => checkSqlite(opened, file, mode === 'daemon' ? 'thorough' : 'quick'));
    // FULL: what a call acknowledged is on the disk also after a power cut, not only after a crash of the process.
    opened.exec(`pragma synchronous = full; pragma journal_size_limit = ${walLimitBytes}`);
    await whenFree(clock, file, () => useWriteAheadLog(opened, file));
    return engineOver(opened, file, clock, lock);
  } catch (thrown) {
    if (database?.isOpen) database.close();
    lock?.release();
    throw sqliteError(thrown, file);
  }
}

function engineOver(database: DatabaseSync, file: string, clock: Clock, lock: InstanceLock | undefined): Engine {
  const writes = new TableWrites();
  const db = new Kysely<Database>({ dialect: sqliteDialect(database, file, clock, writes) });
  const others = database.prepare('pragma data_version');
  return {
    name: 'sqlite',
    db,
    leaseClock: (callersAt) => sql<number>`${sql.val(callersAt)}`,
    changeMark: (table) => {
      const mark = othersMark(database, others);
      return mark === null ? null : `${mark} ${writes.of(table)}`;
    },
    maintain: () => db.connection().execute(async () => maintainSqlite(database, file)),
    close: async () => {
      // Waits for a transaction that is under way: Kysely has one connection to give.
      await db.connection().execute(async () => {});
      await db.destroy();
      lock?.release();
    },
  };
}

/** Changes with each commit of another connection. An error of the file shows when its rows are read. */
function othersMark(database: DatabaseSync, dataVersion: StatementSync): unknown {
  try {
    return database.isOpen ? (dataVersion.get()?.data_version ?? null) : null;
  } catch {
    return null;
  }
}

function useWriteAheadLog(database: DatabaseSync, file: string): void {
  const answer = database.prepare('pragma journal_mode = wal').get();
  if (answer?.journal_mode === 'wal') return;
  throw new BatonError('store_not_writable', `The file system of ${file} does not support a write-ahead log.`, {
    nextStep: 'Put the store on a local disk.',
  });
}
