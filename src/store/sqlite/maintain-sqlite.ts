import type { DatabaseSync } from 'node:sqlite';
import type { MaintenanceResult } from '../engine.ts';
import { sqliteError } from './sqlite-errors.ts';
import { blockingTimeoutMs } from './when-free.ts';

/**
 * The upkeep of an open file. What must hold:
 *
 * - The long part, copying pages from the write-ahead log into the file, is done without a lock that a writer needs.
 *   Only the rest, and cutting off the log, is done under the write lock, and only if that is free.
 * - It never waits: a holder of the write lock that waits for readers would delay every writer.
 * - A database that is busy is no error; any other failure is thrown.
 *
 * Not inside a transaction of this connection.
 */
export function maintainSqlite(database: DatabaseSync, file: string): MaintenanceResult {
  try {
    database.exec('pragma busy_timeout = 0');
    try {
      // First, because it writes, and what it wrote is in the log.
      const isOptimized = optimize(database, file);
      const upkeep = emptyLog(database);
      return isOptimized ? upkeep : { ...upkeep, busy: true };
    } finally {
      database.exec(`pragma busy_timeout = ${blockingTimeoutMs}`);
    }
  } catch (thrown) {
    throw sqliteError(thrown, file);
  }
}

function emptyLog(database: DatabaseSync): MaintenanceResult {
  const first = checkpoint(database, 'passive');
  const { log: walPages, checkpointed } = first;
  // An old reader still needs the log, or another connection checkpoints it.
  if (first.busy || checkpointed < walPages) return { walPages, checkpointed, busy: true };
  const { busy } = checkpoint(database, 'truncate');
  return { walPages, checkpointed, busy };
}

/** SQLite answers with a row also when the database is busy; it throws errors only. */
function checkpoint(
  database: DatabaseSync,
  mode: 'passive' | 'truncate',
): { readonly busy: boolean; readonly log: number; readonly checkpointed: number } {
  const row = database.prepare(`pragma wal_checkpoint(${mode})`).get();
  // SQLite says -1 where it could not read the log.
  const pages = (value: unknown): number => Math.max(0, Number(value));
  return { busy: row?.busy !== 0, log: pages(row?.log), checkpointed: pages(row?.checkpointed) };
}

/** Updates the statistics by which SQLite chooses indexes, from at most some thousand rows of each. False: busy. */
function optimize(database: DatabaseSync, file: string): boolean {
  try {
    database.exec('pragma optimize');
    return true;
  } catch (thrown) {
    const error = sqliteError(thrown, file);
    if (error.code !== 'store_busy') throw error;
    return false;
  }
}
