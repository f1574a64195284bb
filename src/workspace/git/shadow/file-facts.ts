import { createHash } from 'node:crypto';
import { type FileHandle, readlink } from 'node:fs/promises';
import path from 'node:path';
import { lstatOrNull } from '../../file-system.ts';
import { withPlainFile } from '../../read-small-file.ts';
import { type BytePath, fromBytePath } from '../../walk-folders.ts';

/** The facts about a path in a work tree. Two equal results mean that nothing changed in between. */
export type FileFact = readonly [kind: string, ...what: (string | number)[]];

export interface FileFacts {
  of(file: BytePath): Promise<FileFact>;
}

/** A file above `largestRead`, and every file after `mostRead` bytes in total, is identified by size and time. */
const largestRead = 16 * 1024 * 1024;
const mostRead = 256 * 1024 * 1024;

const pieceLength = 256 * 1024;

/** Examines files of a work tree by their contents. No link is followed, neither at the end of a path nor on the way. */
export function fileFactsOf(root: BytePath): FileFacts {
  const folders = new Map<BytePath, Promise<boolean>>();
  let unread = mostRead;

  const isFolder = (folder: BytePath): Promise<boolean> => {
    if (folder === '.') return Promise.resolve(true);
    const known = folders.get(folder) ?? isPlainFolder(folder);
    folders.set(folder, known);
    return known;
  };
  const isPlainFolder = async (folder: BytePath): Promise<boolean> =>
    (await isFolder(path.posix.dirname(folder))) &&
    ((await lstatOrNull(fromBytePath(`${root}/${folder}`)))?.isDirectory() ?? false);

  return {
    of: async (file) => {
      const at = `${root}/${file}`;
      const found = (await isFolder(path.posix.dirname(file))) ? await lstatOrNull(fromBytePath(at)) : null;
      if (found === null) return ['gone'];
      if (found.isDirectory()) return ['directory'];
      if (found.isSymbolicLink()) return ['link', await readlink(fromBytePath(at), 'latin1')];
      if (!found.isFile()) return ['other', found.mode];
      const mode = (found.mode & 0o100) === 0 ? 'plain' : 'executable';
      unread -= found.size;
      if (found.size > largestRead || unread < 0) return [mode, found.size, found.mtimeMs];
      return [mode, (await withPlainFile(at, (file) => digestOf(file, found.size))) ?? 'other'];
    },
  };
}

async function digestOf(file: FileHandle, size: number): Promise<string> {
  const digest = createHash('sha256');
  // Asks for one byte more than the size: a read that returns fewer bytes is the last one.
  const piece = Buffer.allocUnsafe(Math.min(pieceLength, size + 1));
  // A file that grows while it is read must not be read for ever.
  for (let at = 0; at <= largestRead; ) {
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    digest.update(piece.subarray(0, bytesRead));
    at += bytesRead;
    if (bytesRead < piece.length) break;
  }
  return digest.digest('hex');
}
