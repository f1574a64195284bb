import path from 'node:path';
import { type BytePath, fromBytePath } from '../folders-of.ts';
import { lookAt } from '../look-at.ts';
import { isFolder, isFolderIn, notUnderstood, textIn } from './git-files.ts';

/** Git goes as deep. */
const deepest = 5;

const mostDirectories = 64;

const mostListBytes = 256 * 1024;

/** An object directory and those it borrows from, directly or not; only those that exist. */
export async function readObjectDirectories(objects: BytePath): Promise<readonly BytePath[]> {
  if (!(await isFolder(objects))) throw notUnderstood('It has no objects.');
  const found = new Set([objects]);
  let level: readonly BytePath[] = [objects];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: BytePath[] = [];
    for (const each of level) {
      for (const other of await borrowedBy(each)) {
        if (found.has(other)) continue;
        found.add(other);
        next.push(other);
      }
    }
    if (found.size > mostDirectories || (depth >= deepest && next.length > 0))
      throw notUnderstood('It borrows objects from too many repositories.');
    level = next;
  }
  return [...found];
}

async function borrowedBy(objects: BytePath): Promise<readonly BytePath[]> {
  if (!(await isFolderIn(objects, 'info'))) return [];
  const found: BytePath[] = [];
  for (const line of ((await textIn(`${objects}/info/alternates`, mostListBytes)) ?? '').split('\n')) {
    if (line === '' || line.startsWith('#') || line.includes('\0')) continue;
    const named = path.posix.resolve(objects, line.startsWith('"') ? unquoted(line) : line);
    if (found.length > mostDirectories) break;
    if (await isThere(named)) found.push(named);
  }
  return found;
}

async function isThere(folder: BytePath): Promise<boolean> {
  // Whatever keeps it from being seen keeps git from borrowing there.
  return (await lookAt(fromBytePath(folder)).catch(() => null))?.isDirectory() ?? false;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', a: '\x07', f: '\f', v: '\v' };

/** As git quotes a path in C's manner. */
function unquoted(line: string): string {
  return line
    .replace(/^"/, '')
    .replace(/"\s*$/, '')
    .replaceAll(/\\([0-3][0-7]{2}|.)/g, (_whole, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
    );
}
