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

/** A state folder that this process alone has, until it is released or ends. */
export interface StateFolder {
  /**
   * Who owns claims in a store that several daemons may share. It goes with the folder: who lost the folder is somebody
   * else, and waits for the lease of what it owned before.
   */
  readonly ownerId: string;
  /** What the processes of this daemon are marked with. It goes with the place: the same when the folder was lost. */
  readonly markerId: string;
  /**
   * False once the folder was deleted or replaced: another daemon can then take its place beside this one, so this one
   * must stop. Cheap enough for every tick.
   */
  isHeld(): boolean;
  release(): void;
}

export interface StateFolderParts {
  readonly hostName: string;
  readonly chance: Chance;
  readonly logger: Logger;
}

/** More than any id file has; whatever is longer is none, and is not read. */
const longestIdFile = 200;

/**
 * Makes the state folder where it is missing, and takes it for one daemon. Throws `store_in_use` when another has it,
 * naming that one, and `store_not_writable` and its like when the folder cannot be used.
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
    return { ownerId, markerId, isHeld: watchFile(path.join(stateDir, 'daemon.lock')), release };
  } catch (thrown) {
    release();
    const error = sqliteError(thrown, stateDir);
    throw error.code === 'store_in_use' ? inUse(stateDir, error) : error;
  }
}

/** Whether the path still leads to the file that is there now. Never opens it: closing it again would end the lock. */
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
 * The id in the file, or a new one. The file says also for which place it was made: a daemon in the copy of a folder, or
 * on another machine, must not own what the daemon of the original owns, as it could not see the processes of that one.
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

/** Null where there is none, the empty text for what is no such file: a link, a pipe, a folder, one that is too long. */
function readIdFile(file: string): string | null {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isFile() && stat.size <= longestIdFile ? readFileSync(file, 'utf8') : '';
}

/** After a crash at any moment there is the old file or the new one, whole. Only the holder of the lock gets here. */
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
  const who = pid === undefined ? 'another daemon that is just starting' : `the daemon with pid ${pid} on ${host}`;
  return new BatonError('store_in_use', `The state folder ${stateDir} is in use by ${who}.`, {
    details: { ...details, folder: stateDir },
    nextStep: 'Stop that daemon, or give this one a state folder of its own (`--state-dir`).',
  });
}
