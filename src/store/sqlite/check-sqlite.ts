import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { BatonError } from '../../core/baton-error.ts';
import { knownVersion } from '../migrations/refuse-unknown.ts';
import { sqliteError } from './sqlite-errors.ts';

/** Above this a check of every page would delay the start for seconds; damage then shows when the page is read. */
const thoroughUpToBytes = 256 * 1024 * 1024;

/**
 * Refuses a file that Baton must not write to: not a database, damaged, of another program, of a newer Baton, or
 * read-only. Changes nothing.
 */
export function checkSqlite(database: DatabaseSync, file: string, depth: 'thorough' | 'quick'): void {
  refuseForeign(database, file);
  if (depth === 'thorough' && sizeOf(database) <= thoroughUpToBytes) refuseDamaged(database, file, 'quick_check');
  refuseReadOnly(database);
}

/** Throws unless the file is a whole store that this Baton can read. Changes nothing. */
export function verifyStoreFile(file: string): void {
  if (!existsSync(file)) throw new BatonError('store_backup_failed', `The file ${file} does not exist.`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    if (refuseForeign(database, file) === 0) {
      throw new BatonError('store_backup_failed', `${file} does not contain a store.`);
    }
    refuseDamaged(database, file, 'integrity_check');
  } catch (thrown) {
    throw sqliteError(thrown, file);
  } finally {
    database?.close();
  }
}

/**
 * Finds a read-only file now, not at the first write. Beginning a transaction is not enough: SQLite allows even an
 * immediate one on such a file. So this writes a number that Baton does not use, and rolls it back.
 */
function refuseReadOnly(database: DatabaseSync): void {
  database.exec('begin immediate');
  try {
    database.exec('pragma user_version = 1');
  } finally {
    if (database.isTransaction) database.exec('rollback');
  }
}

/** Refuses a database of another program or of a newer Baton. Returns the version, 0 for an empty one. */
export function refuseForeign(database: DatabaseSync, file: string): number {
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  if (tables.length === 0) return 0;
  if (!tables.some((row) => row.name === 'baton_migrations')) {
    throw new BatonError('store_foreign', `${file} is the database of another program.`);
  }
  const rows = database.prepare('select number, name from baton_migrations').all();
  const applied = rows.map(({ number, name }) => ({ number: Number(number), name: String(name) }));
  return knownVersion(applied, file);
}

/** Checks every page; `integrity_check` also compares each index with its table. */
function refuseDamaged(database: DatabaseSync, file: string, check: 'quick_check' | 'integrity_check'): void {
  const finding = database.prepare(`pragma ${check}(1)`).get();
  const text = String(Object.values(finding ?? {})[0]);
  if (text !== 'ok') throw new BatonError('store_corrupt', `${file} is damaged: ${text}`, { details: { file } });
}

function sizeOf(database: DatabaseSync): number {
  const pages = Number(database.prepare('pragma page_count').get()?.page_count);
  return pages * Number(database.prepare('pragma page_size').get()?.page_size);
}
