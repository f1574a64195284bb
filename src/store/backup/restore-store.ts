import { constants, copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { allTables } from '../all-tables.ts';
import { verifyStoreFile } from '../sqlite/check-sqlite.ts';
import { flushFile, flushFolderOf } from '../sqlite/durable-files.ts';
import { takeInstanceLock } from '../sqlite/instance-lock.ts';
import { sqliteError } from '../sqlite/sqlite-errors.ts';
import { parseStoreUrl } from '../store-url.ts';
import { keptName } from './backup-store.ts';
import { fencingStatements, type GenerationBefore, generationsBefore } from './fence-restored.ts';

export interface RestoreStoreOptions {
  readonly file: string;
  readonly url: string;
  readonly clock: Clock;
  /** Whether a store with data may be replaced; by default it is not. */
  readonly replace: boolean;
}

/**
 * Replaces the store with a backup while no daemon runs. The old store stays next to it, whatever its state. At every
 * instant the name of the store leads to the old store or to the new one. Returns the name of the old one.
 */
export function restoreStore(options: RestoreStoreOptions): { readonly kept: string | null } {
  const location = parseStoreUrl(options.url);
  if (location.engine === 'postgres') {
    throw new BatonError(
      'store_backup_failed',
      'Baton does not restore a PostgreSQL store; use the tools of PostgreSQL.',
      {
        nextStep: 'Run `pg_restore --clean --if-exists --dbname=URL FILE`.',
      },
    );
  }
  verifyStoreFile(options.file);
  const target = location.file;
  const draft = `${target}.restoring-${process.pid}`;
  try {
    mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 });
    const lock = takeInstanceLock(target);
    try {
      if (!options.replace && hasData(target)) {
        throw new BatonError('store_not_empty', `The store ${target} has data.`);
      }
      copyFileSync(options.file, draft, constants.COPYFILE_EXCL);
      fence(draft, readGenerations(target));
      verifyStoreFile(draft);
      flushFile(draft);
      const kept = keepOld(target, options.clock);
      renameSync(draft, target);
      flushFolderOf(target);
      return { kept };
    } finally {
      lock.release();
    }
  } catch (thrown) {
    throw sqliteError(thrown, target);
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${end}`, { force: true });
  }
}

/** An unreadable store counts as one with data. */
function hasData(file: string): boolean {
  if (!hasContent(file)) return false;
  let database: DatabaseSync | undefined;
  try {
    const opened = new DatabaseSync(file, { readOnly: true });
    database = opened;
    return allTables.some(({ name }) => opened.prepare(`select 1 from ${name} limit 1`).get() !== undefined);
  } catch {
    return true;
  } finally {
    database?.close();
  }
}

/** Empty for a missing or unreadable store: then only the generations of the backup count. */
function readGenerations(file: string): readonly GenerationBefore[] {
  if (!existsSync(file)) return [];
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    // The columns are the first version's, and strict.
    return database.prepare(generationsBefore).all() as unknown as GenerationBefore[];
  } catch {
    return [];
  } finally {
    database?.close();
  }
}

function fence(file: string, before: readonly GenerationBefore[]): void {
  const database = new DatabaseSync(file);
  try {
    database.exec('begin immediate');
    for (const { text, parameters } of fencingStatements(before)) database.prepare(text).run(...parameters);
    database.exec('commit');
    // Everything must be in the one file that gets the name.
    database.exec('pragma journal_mode = delete');
  } finally {
    database.close();
  }
}

/**
 * The write-ahead log belongs to the old file and is kept with it, both untouched: SQLite opens them as a pair. It must
 * be gone from here before the new file has the name, or SQLite would play it into the wrong one.
 */
function keepOld(file: string, clock: Clock): string | null {
  if (!existsSync(file)) return null;
  const kept = keptName(file, clock);
  linkOrCopy(file, kept);
  if (hasContent(`${file}-wal`)) linkOrCopy(`${file}-wal`, `${kept}-wal`);
  flushFolderOf(kept);
  rmSync(`${file}-wal`, { force: true });
  rmSync(`${file}-shm`, { force: true });
  return kept;
}

function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}
