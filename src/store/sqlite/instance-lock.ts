import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { BatonError } from '../../core/baton-error.ts';
import { numberIn, recordIn, textIn } from '../json.ts';
import { sqliteError } from './sqlite-errors.ts';

/**
 * Allows one daemon for each file. The lock is a lock of the operating system on `<file>.lock`, taken through SQLite.
 * It ends with its process, however that ends, so it is never stale. Two daemons that start at once cannot both get it,
 * and containers that share the folder see it although they do not see each other's processes. `<file>.pid` only names the holder, for people.
 *
 * What must hold: `<file>.lock` is not deleted while a daemon runs, and this process never opens it in another way
 * (with POSIX locks, closing any other handle would end the lock).
 */
export interface InstanceLock {
  release(): void;
}

/** Keeps the handles referenced: garbage collection would close them and end their locks. */
const held = new Set<DatabaseSync>();

/** Takes the lock or throws `store_in_use`, naming the process that has it. */
export function takeInstanceLock(file: string): InstanceLock {
  const handle = tryLock(`${file}.lock`);
  if (handle === null) throw inUse(file);
  const holder: LockHolder = { pid: process.pid, start_time: processStartTime(process.pid), host: os.hostname() };
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

/**
 * Makes an empty file that only its owner may read, unless the name is taken: issues, prompts and the names of hosts are
 * in a store. SQLite gives its own files next to it the same permissions.
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  }
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
  const who = holder === null ? 'another daemon that is starting' : `the daemon with pid ${holder.pid}`;
  const where = holder === null || holder.host === os.hostname() ? '' : ` on ${holder.host}`;
  return new BatonError('store_in_use', `The store ${file} is in use by ${who}${where}.`, {
    details: { file, ...(holder === null ? {} : { pid: holder.pid, host: holder.host }) },
  });
}

/** Null when there is none, or when it is that of a daemon that was killed: the holder has not written its own yet. */
function readHolder(pidFile: string): LockHolder | null {
  try {
    const found = recordIn(JSON.parse(readFileSync(pidFile, 'utf8')));
    const [pid, start_time, host] = [numberIn(found.pid), numberIn(found.start_time), textIn(found.host)];
    if (pid === null || host === null) return null;
    const holder = { pid, start_time, host };
    if (host !== os.hostname() || start_time === null) return holder;
    const startedNow = processStartTime(pid);
    return startedNow !== null && startedNow !== start_time ? null : holder;
  } catch {
    return null;
  }
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
