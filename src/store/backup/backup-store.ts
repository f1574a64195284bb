import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { refuseForeign, verifyStoreFile } from '../sqlite/check-sqlite.ts';
import { flushFile, flushFolderOf } from '../sqlite/durable-files.ts';
import { sqliteError } from '../sqlite/sqlite-errors.ts';
import { parseStoreUrl } from '../store-url.ts';

/** A store in WAL mode is never locked for readers, except for the instant in which a crash is recovered from. */
const lockTimeoutMs = 5_000;

/**
 * Writes one moment of the store to a new file, while a daemon goes on writing. The file appears under its name only
 * when it is whole, checked and on the disk; a file that is there already is never written over.
 *
 * It holds up the event loop while it copies: it is for the command line, not for the daemon's own process.
 */
export function backupStore(url: string, file: string): void {
  const location = parseStoreUrl(url);
  if (location.engine === 'postgres') {
    throw new BatonError(
      'store_backup_failed',
      'Baton does not back up a PostgreSQL store; use the tools of PostgreSQL.',
      {
        nextStep: 'Run `pg_dump --format=custom --file=FILE` with the address of the store.',
      },
    );
  }
  if (!existsSync(location.file)) {
    const details = { problem: 'no_store', file: location.file };
    throw new BatonError('store_backup_failed', `There is no store ${location.file}.`, { details });
  }
  refuseExisting(file);
  const partial = `${file}.partial-${process.pid}`;
  try {
    closeSync(openSync(partial, 'wx', 0o600));
    copyMoment(location.file, partial);
    verifyStoreFile(partial);
    flushFile(partial);
    nameIt(partial, file);
    flushFolderOf(file);
  } catch (thrown) {
    throw sqliteError(thrown, file);
  } finally {
    rmSync(partial, { force: true });
  }
}

/** The name under which a restore keeps the store that it replaces. */
export function keptName(file: string, clock: Clock): string {
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]/g, '').replace('.', '');
  return `${file}.before-restore-${time}`;
}

function copyMoment(source: string, target: string): void {
  const database = new DatabaseSync(source, { timeout: lockTimeoutMs });
  try {
    refuseForeign(database, source);
    database.prepare('vacuum into ?').run(target);
  } catch (thrown) {
    throw sqliteError(thrown, source);
  } finally {
    database.close();
  }
}

/** A link fails where the name is taken, a rename would replace; some file systems (memory sticks) have no links. */
function nameIt(partial: string, file: string): void {
  try {
    linkSync(partial, file);
  } catch {
    refuseExisting(file);
    renameSync(partial, file);
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) {
    const details = { problem: 'file_exists', file };
    throw new BatonError('store_backup_failed', `${file} already exists, and Baton does not overwrite it.`, {
      details,
    });
  }
}
