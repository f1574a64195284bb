import { readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { lstatOrNull } from '../../../workspace/file-system.ts';
import { readSmallFile } from '../../../workspace/read-small-file.ts';
import { type BytePath, fromBytePath } from '../../../workspace/walk-folders.ts';
import { noNewlineAtEnd } from './diff-fixed-texts.ts';
import { noPatch, type PatchFacts, patchFacts } from './diff-text.ts';

/**
 * The patch of a file that git does not know yet, as git would write it. Follows no link, neither at the end of the
 * path nor on the way, and opens regular files only.
 */
export async function newFilePatch(root: BytePath, file: BytePath, mostBytes: number): Promise<PatchFacts> {
  const at = `${root}/${file}`;
  const folder = path.posix.dirname(at);
  const real = await realpath(fromBytePath(folder), { encoding: 'latin1' }).catch(() => null);
  if (real !== folder) return noPatch;
  const found = await lstatOrNull(fromBytePath(at));
  if (found?.isSymbolicLink() === true) {
    const target = await readlink(fromBytePath(at), 'latin1');
    return patchFacts(patchOf(file, '120000', target), mostBytes);
  }
  if (found?.isFile() !== true) return noPatch;
  const text = (await readSmallFile(at, mostBytes).catch(() => null))?.text ?? null;
  if (text === null) return noPatch;
  return patchFacts(patchOf(file, (found.mode & 0o100) === 0 ? '100644' : '100755', text), mostBytes);
}

function patchOf(file: BytePath, mode: string, text: string): string {
  const head = `diff --git a/${file} b/${file}\nnew file mode ${mode}\n`;
  if (text === '') return head;
  const isEnded = text.endsWith('\n');
  const lines = (isEnded ? text.slice(0, -1) : text).split('\n');
  const body = lines.map((line) => `+${line}\n`).join('');
  const range = lines.length === 1 ? '+1' : `+1,${lines.length}`;
  const end = isEnded ? '' : noNewlineAtEnd;
  return `${head}--- /dev/null\n+++ b/${file}\n@@ -0,0 ${range} @@\n${body}${end}`;
}
