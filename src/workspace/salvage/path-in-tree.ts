import { lstat } from 'node:fs/promises';
import { hasCode } from '../file-system.ts';
import { type BytePath, fromBytePath } from '../walk-folders.ts';

/** Whether a path from an untrusted index or tree stays in the work tree. */
export function isPlainPath(name: BytePath): boolean {
  return name.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git');
}

/**
 * The entry at a path below a root, without following links on the way: files behind a link are not part of the tree.
 */
export async function kindAt(root: BytePath, name: BytePath): Promise<'nothing' | 'file' | 'folder' | 'other'> {
  const parts = name.split('/');
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const found = await lstat(fromBytePath(`${root}/${parts.slice(0, depth).join('/')}`)).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return null;
      throw error;
    });
    if (found === null) return 'nothing';
    if (depth < parts.length) {
      if (!found.isDirectory()) return 'nothing';
    } else if (found.isFile() || found.isSymbolicLink()) return 'file';
    else return found.isDirectory() ? 'folder' : 'other';
  }
  return 'nothing';
}

/** A list of names in the format that git reads. */
export function joined(names: readonly BytePath[]): BytePath {
  return names.map((name) => `${name}\0`).join('');
}

/** Whether a path is this folder or below it; everything is below the root, which is the empty path. */
export function isBelow(name: BytePath, folder: BytePath): boolean {
  return folder === '' || name === folder || name.startsWith(`${folder}/`);
}
