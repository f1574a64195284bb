import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { BatonError } from '../../core/baton-error.ts';
import { makePrivateFile } from './private-file.ts';
import { sqliteError } from './sqlite-errors.ts';

/**
 * One daemon a file. The lock is one of the operating system's, held on `<file>.lock` by way of SQLite: it ends with
 * its process however that ends, so it is never stale, two that start at once cannot both get it, and containers that
 * share the folder see it though they do not see each other's processes. `<file>.pid` only tells people who holds it.
 *
 * What must hold: nobody deletes `<file>.lock` while a daemon runs, and this process never opens it in another way
 * (closing any other handle of it would end the lock; that is how POSIX locks are).
 */
export interface InstanceLock {
  release(): void;
}

/** A handle that nobody refers to is closed when it is collected as garbage, and its lock ends; here they are kept. */
const held = new Set<DatabaseSync>();

/** Takes the lock or throws `store_in_use`, naming the process that has it. */
export function takeInstanceLock(file: string): InstanceLock {
  const handle = tryLock(`${file}.lock`);
  if (handle === null) throw inUse(file);
  const holder: LockHolder = {
    pid: process.pid,
    start_time: processStartTime(process.pid),
    host: os.hostname(),
  };
  const draft = `${file}.pid.${process.pid}`;
  try {
    writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
    renameSync(draft, `${file}.pid`);
  } catch (thrown) {
    rmSync(draft, { force: true });
    handle.close();
    throw sqliteError(thrown, `${file}.pid`);
  }
  held.add(handle);
  return {
    release: () => {
      held.delete(handle);
      if (!handle.isOpen) return;
      rmSync(`${file}.pid`, { force: true });
      handle.close();
    },
  };
}

function tryLock(lockFile: string): DatabaseSync | null {
  let handle: DatabaseSync | undefined;
  try {
    makePrivateFile(lockFile);
    handle = new DatabaseSync(lockFile, { timeout: 0 });
    // Nothing is ever written to it: the lock alone counts, and without a journal no other file appears.
    handle.exec('pragma journal_mode = off; begin exclusive');
    return handle;
  } catch (thrown) {
    handle?.close();
    const error = sqliteError(thrown, lockFile);
    if (error.code === 'store_busy') return null;
    throw error;
  }
}

interface LockHolder {
  readonly pid: number;
  readonly start_time: number | null;
  readonly host: string;
}

function inUse(file: string): BatonError {
  const holder = readHolder(`${file}.pid`);
  const who = holder === null ? 'another daemon that is just starting' : `the daemon with pid ${holder.pid}`;
  const where = holder === null || holder.host === os.hostname() ? '' : ` on ${holder.host}`;
  return new BatonError('store_in_use', `the store ${file} is in use by ${who}${where}`, {
    details: { file, ...(holder === null ? {} : { pid: holder.pid, host: holder.host }) },
  });
}

/** Null when there is none, or when it is that of a daemon that was killed: the holder has not written its own yet. */
function readHolder(pidFile: string): LockHolder | null {
  try {
    const found: unknown = JSON.parse(readFileSync(pidFile, 'utf8'));
    if (!isHolder(found)) return null;
    if (found.host !== os.hostname() || found.start_time === null) return found;
    const startedNow = processStartTime(found.pid);
    return startedNow !== null && startedNow !== found.start_time ? null : found;
  } catch {
    return null;
  }
}

function isHolder(found: unknown): found is LockHolder {
  return (
    typeof found === 'object' &&
    found !== null &&
    'pid' in found &&
    typeof found.pid === 'number' &&
    'host' in found &&
    typeof found.host === 'string' &&
    'start_time' in found &&
    (found.start_time === null || typeof found.start_time === 'number')
  );
}

/** In clock ticks since boot, from /proc (field 22, after the name in parentheses); null where there is no /proc. */
function processStartTime(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const startTime = Number(fields[19]);
    return Number.isFinite(startTime) ? startTime : null;
  } catch {
    return null;
  }
}
