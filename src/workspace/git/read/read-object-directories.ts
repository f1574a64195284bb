import path from 'node:path';
import { hasCode, lstatOrNull } from '../../file-system.ts';
import { type BytePath, fromBytePath, walkFolders } from '../../walk-folders.ts';
import { isFolder, isFolderIn, notUnderstood, shown, textIn } from './git-files.ts';

/** Git follows alternates five levels deep. */
const deepest = 5;

const mostDirectories = 64;

const mostListBytes = 256 * 1024;

/** Upper bound on alternate entries, existing or not. */
const mostNames = 1_000;

/** How many folders of objects are read at once. */
const readAtOnce = 16;

/** All object files together; a repository in which git collects garbage has a few thousand. */
const mostFiles = 1_000_000;

/**
 * An object directory and those it borrows from, directly or not; only those that exist. Rejects when there is a link
 * on the way to one or anything odd in one: git would read from a place that Baton has not checked.
 */
export async function readObjectDirectories(objects: BytePath): Promise<readonly BytePath[]> {
  if (!(await isFolder(objects))) throw notUnderstood('The git directory has no objects.');
  const found = new Set([objects]);
  const budget = { left: mostFiles };
  await refuseOddObjects(objects, budget);
  let level: readonly BytePath[] = [objects];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: BytePath[] = [];
    for (const each of level) {
      for (const other of await borrowedBy(each)) {
        if (found.has(other)) continue;
        found.add(other);
        next.push(other);
        await refuseOddObjects(other, budget);
      }
    }
    if (found.size > mostDirectories || (depth >= deepest && next.length > 0))
      throw notUnderstood('The git directory borrows objects from too many repositories.');
    level = next;
  }
  return [...found];
}

async function borrowedBy(objects: BytePath): Promise<readonly BytePath[]> {
  if (!(await isFolderIn(objects, 'info'))) return [];
  const named = new Set<BytePath>();
  for (const line of ((await textIn(`${objects}/info/alternates`, mostListBytes)) ?? '').split('\n')) {
    if (line === '' || line.startsWith('#') || line.includes('\0')) continue;
    named.add(path.posix.resolve(objects, line.startsWith('"') ? unquoted(line) : line));
    if (named.size > mostNames) throw notUnderstood('The git directory borrows objects from too many folders.');
  }
  const found: BytePath[] = [];
  const plain = new Set<BytePath>();
  for (const each of named) if (await isThere(each, objects, plain)) found.push(each);
  return found;
}

/** Checks every step of the path once. A link that also leads to the borrower was not made by the agent. */
async function isThere(folder: BytePath, borrower: BytePath, plain: Set<BytePath>): Promise<boolean> {
  for (let end = folder.indexOf('/', 1); ; end = folder.indexOf('/', end + 1)) {
    const step = end < 0 ? folder : folder.slice(0, end);
    if (!plain.has(step)) {
      // Whatever hides the folder from Baton also keeps git from borrowing there.
      const found = await lstatOrNull(fromBytePath(step)).catch(() => null);
      const isLink = found?.isSymbolicLink() === true;
      if (isLink && !`${borrower}/`.startsWith(`${step}/`))
        throw notUnderstood(`The git directory borrows objects through the link ${shown(step)}.`);
      if (!isLink && found?.isDirectory() !== true) return false;
      plain.add(step);
    }
    if (end < 0) return true;
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', a: '\x07', f: '\f', v: '\v' };

/** Undoes git's C-style quoting of a path. */
function unquoted(line: string): string {
  return line
    .replace(/^"/, '')
    .replace(/"\s*$/, '')
    .replaceAll(/\\([0-3][0-7]{2}|.)/g, (_whole, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
    );
}

/** The folders of an object directory that git reads from; other entries are unused or half-written. */
const readFolders = /^(?:pack|info|[0-9a-f]{2})$/;

/**
 * Rejects when anything that git would open in an object directory is neither a plain file nor a folder. A link leads to
 * the objects of another repository, which the daemon may read and an agent may not; at a pipe git waits for ever.
 */
async function refuseOddObjects(objects: BytePath, budget: { left: number }): Promise<void> {
  const folders = (await foldersIn(objects, budget)).filter((each) => readFolders.test(each));
  for (let from = 0; from < folders.length; from += readAtOnce) {
    const some = folders.slice(from, from + readAtOnce);
    const inner = await Promise.all(some.map((name) => foldersIn(`${objects}/${name}`, budget)));
    if (inner[some.indexOf('info')]?.includes('commit-graphs'))
      await foldersIn(`${objects}/info/commit-graphs`, budget);
  }
}

async function foldersIn(folder: BytePath, budget: { left: number }): Promise<readonly BytePath[]> {
  const found: BytePath[] = [];
  try {
    for await (const { entries } of walkFolders(folder, { budget, enters: () => false })) {
      for (const entry of entries) {
        if (entry.isDirectory()) found.push(entry.name);
        else if (!entry.isFile())
          throw notUnderstood(`${shown(`${folder}/${entry.name}`)} is neither a file nor a folder.`);
      }
    }
  } catch (error) {
    // Another git may tidy up meanwhile: a file that is gone is not opened either.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  return found;
}
