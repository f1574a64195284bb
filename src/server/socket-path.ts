import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import { type FolderFacts, unsafeFolderReasons, whyFolderUnsafe } from '../core/safe-folder.ts';

/** The longest path of a socket: 104 bytes on macOS, 108 on Linux, including the terminating zero byte. */
const longestSocketPath = 103;

/**
 * Where the daemon of a state folder listens: in that folder or, when its path is too long for a socket, in a separate
 * folder below the temporary one. Every user may create folders there, and the name is predictable. Therefore a folder
 * that is not safely ours is refused with `socket_folder_unsafe`: its owner could answer in the name of the daemon.
 */
export function socketPath(stateDir: string, tmpDir: string): string {
  const { socket, isApart } = choosePlace(stateDir, tmpDir);
  if (isApart) refuseUnlessOurs(path.dirname(socket));
  return socket;
}

/** Creates the folder of the socket, for the daemon. */
export function makeSocketFolder(stateDir: string, tmpDir: string): void {
  const { socket, isApart } = choosePlace(stateDir, tmpDir);
  const folder = path.dirname(socket);
  try {
    mkdirSync(folder, { recursive: !isApart, mode: 0o700 });
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) {
      throw new BatonError('local_socket_failed', `The folder ${folder} for the local socket cannot be created.`, {
        cause,
      });
    }
  }
  // Check only now: once the folder exists and is ours, no other user can replace it.
  if (isApart) refuseUnlessOurs(folder);
}

function choosePlace(stateDir: string, tmpDir: string): { readonly socket: string; readonly isApart: boolean } {
  const inside = path.join(stateDir, 'baton.sock');
  if (Buffer.byteLength(inside) <= longestSocketPath) return { socket: inside, isApart: false };
  const name = createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
  return { socket: path.join(tmpDir, `baton-${name}`, 'baton.sock'), isApart: true };
}

/** A missing folder is harmless, because no process listens there. */
function refuseUnlessOurs(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const uid = process.geteuid?.();
  if (found === undefined || uid === undefined) return;
  // Baton makes this folder without rights for any group.
  const user = { uid, gid: null };
  const problem = whyFolderUnsafe(factsOf(found), [factsOf(statSync(path.dirname(folder)))], user);
  if (problem === null) return;
  const why = unsafeFolderReasons[problem];
  throw new BatonError('socket_folder_unsafe', `The folder ${folder} cannot be used for the local socket: ${why}.`, {
    details: { folder, problem },
  });
}

function factsOf(stats: Stats): FolderFacts {
  return { isFolder: stats.isDirectory(), uid: stats.uid, gid: stats.gid, mode: stats.mode };
}
