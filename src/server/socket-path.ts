import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';

/** The longest path a socket may have: 104 bytes on macOS, 108 on Linux, with the byte that ends it. */
const longestSocketPath = 103;

/** Permission bits: others than the owner may write; and in such a folder only owners may take away what is theirs. */
const writableByOthers = 0o022;
const sticky = 0o1000;

/**
 * Where the daemon of a state folder listens: in that folder, or, when its path is too long for a socket, in a folder of
 * its own below the temporary one. Everybody may make folders there and the name can be foretold, so one that is not
 * safely ours is refused with `socket_folder_unsafe`: whoever has it could answer in the name of the daemon.
 */
export function socketPath(stateDir: string, tmpDir: string): string {
  const { socket, isApart } = choosePlace(stateDir, tmpDir);
  if (isApart) refuseUnlessOurs(path.dirname(socket));
  return socket;
}

/** Makes the folder that the socket is to be in, for the daemon. */
export function makeSocketFolder(stateDir: string, tmpDir: string): void {
  const { socket, isApart } = choosePlace(stateDir, tmpDir);
  const folder = path.dirname(socket);
  try {
    mkdirSync(folder, { recursive: !isApart, mode: 0o700 });
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) {
      throw new BatonError('local_socket_failed', `The folder ${folder} for the local socket cannot be made.`, {
        cause,
      });
    }
  }
  // After it was made or found, and not before: once it is ours nobody else can put another in its place.
  if (isApart) refuseUnlessOurs(folder);
}

function choosePlace(stateDir: string, tmpDir: string): { readonly socket: string; readonly isApart: boolean } {
  const inside = path.join(stateDir, 'baton.sock');
  if (Buffer.byteLength(inside) <= longestSocketPath) return { socket: inside, isApart: false };
  const name = createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
  return { socket: path.join(tmpDir, `baton-${name}`, 'baton.sock'), isApart: true };
}

/** One that is missing is no harm: nobody listens there. */
function refuseUnlessOurs(folder: string): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  const problem = found === undefined ? null : whyUnsafe(found, statSync(path.dirname(folder)));
  if (problem === null) return;
  const why = reasons[problem];
  throw new BatonError('socket_folder_unsafe', `The folder ${folder} cannot be used for the local socket: ${why}.`, {
    details: { folder, problem },
  });
}

const reasons = {
  not_a_folder: 'it is not a folder',
  another_user: 'it belongs to another user',
  writable_by_others: 'others may write into it',
  replaceable_by_others: 'others may replace it',
} as const;

function whyUnsafe(folder: Stats, parent: Stats): keyof typeof reasons | null {
  // A symbolic link is none either: it may be led elsewhere at any time.
  if (!folder.isDirectory()) return 'not_a_folder';
  const user = process.geteuid?.();
  if (user === undefined) return null;
  if (folder.uid !== user) return 'another_user';
  if ((folder.mode & writableByOthers) !== 0) return 'writable_by_others';
  const isOpen = (parent.mode & writableByOthers) !== 0 && (parent.mode & sticky) === 0;
  return isOpen ? 'replaceable_by_others' : null;
}
