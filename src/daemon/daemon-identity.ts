import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Chance } from '../clock/chance.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import { type InstanceLock, takeInstanceLock } from '../store/sqlite/instance-lock.ts';
import { sqliteError } from '../store/sqlite/sqlite-errors.ts';

/** A state folder that belongs to this process alone, until it is released or the process ends. */
export interface StateFolder {
  /**
   * The owner of claims in a store that several daemons may share. It is stored in the folder: a daemon that lost its
   * folder gets another id, and waits for the leases of its former claims to expire.
   */
  readonly ownerId: string;
  /**
   * The marker of this daemon's processes. It depends on the path of the folder, so it stays the same when the folder
   * is lost.
   */
  readonly markerId: string;
  /**
   * False once the folder was deleted or replaced: another daemon can then start next to this one, so this one must
   * stop. Cheap enough for every tick.
   */
  isStillOurs(): boolean;
  release(): void;
}

export interface StateFolderParts {
  readonly hostName: string;
  readonly chance: Chance;
  readonly logger: Logger;
}

/** Longer than any id file; a longer file is not an id file and is not read. */
const longestIdFile = 200;

/**
 * Creates the state folder if it is missing, and locks it for one daemon. Throws `store_in_use`, naming the other
 * daemon, when another one has it, and `store_not_writable` or a similar error when the folder cannot be used.
 */
export function takeStateFolder(stateDir: string, parts: StateFolderParts): StateFolder {
  const release = (): void => {
    lock?.release();
  };
  let lock: InstanceLock | undefined;
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    lock = takeInstanceLock(path.join(stateDir, 'daemon'));
    const markerId = markerOf(realpathSync(stateDir), parts.hostName);
    const ownerId = ownerOf(path.join(stateDir, 'daemon-id'), markerId, parts);
    // A state folder that the user made may let others read; the copies of the repository are in here.
    mkdirSync(path.join(stateDir, 'git'), { recursive: true, mode: 0o700 });
    return { ownerId, markerId, isStillOurs: watchFile(path.join(stateDir, 'daemon.lock')), release };
  } catch (thrown) {
    release();
    const error = sqliteError(thrown, stateDir);
    throw error.code === 'store_in_use' ? inUse(stateDir, error) : error;
  }
}

/** Whether the path still leads to the same file. Never opens it: closing it again would release the lock. */
function watchFile(file: string): () => boolean {
  const { dev, ino } = statSync(file);
  return () => {
    const now = statSync(file, { throwIfNoEntry: false });
    return now?.dev === dev && now.ino === ino;
  };
}

function markerOf(realFolder: string, hostName: string): string {
  return createHash('sha256').update(`${hostName}\0${realFolder}`).digest('hex').slice(0, 24);
}

/**
 * The id in the file, or a new one. The file also names the place it was made for: a daemon in a copy of the folder, or
 * on another machine, must not own the claims of the original daemon, because it could not see that daemon's processes.
 */
function ownerOf(file: string, markerId: string, { chance, logger }: StateFolderParts): string {
  const found = readIdFile(file);
  if (found !== null) {
    const [, id, place] = /^([A-Za-z0-9-]{8,64})\n([0-9a-f]{24})\n$/.exec(found) ?? [];
    if (id !== undefined && place === markerId) return id;
    logger.warn('daemon_id_replaced', { file });
  }
  const id = chance.id();
  replaceFile(file, `${id}\n${markerId}\n`);
  return id;
}

/**
 * Null when there is no file; the empty text for anything else than an id file: a link, a pipe, a folder, a file that
 * is too long.
 */
function readIdFile(file: string): string | null {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isFile() && stat.size <= longestIdFile ? readFileSync(file, 'utf8') : '';
}

/**
 * After a crash at any moment, either the old file or the new one is there, complete. Only the holder of the lock calls
 * this.
 */
function replaceFile(file: string, text: string): void {
  const draft = `${file}.new`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, file);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw sqliteError(thrown, file);
  }
  const folder = openSync(path.dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function inUse(stateDir: string, { details }: BatonError): BatonError {
  const { pid, host } = details;
  const who = pid === undefined ? 'another daemon that is starting' : `the daemon with pid ${pid} on ${host}`;
  return new BatonError('store_in_use', `The state folder ${stateDir} is in use by ${who}.`, {
    details: { ...details, folder: stateDir },
    nextStep: 'Stop that daemon, or give this one its own state folder (`--state-dir`).',
  });
}
