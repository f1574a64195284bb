import type { Dirent } from 'node:fs';
import { BatonError } from '../../../core/baton-error.ts';
import { type BytePath, toBytePath, walkFolders } from '../../walk-folders.ts';
import { shown } from '../read/git-files.ts';

/** Files that git opens by itself in every folder of a work tree. */
const rules = ['.gitignore', '.gitattributes'];

/** How many folders are read at once. */
const readAtOnce = 16;

/** Further entries are not checked; then only the time limit of a call protects. */
const mostEntries = 1_000_000;

/**
 * The first rules file in a work tree that is not a regular file: git would wait at a pipe for a writer until its time
 * limit. Null when there is none. An unreadable folder is left to git, which cannot read it either.
 */
export async function findOddRules(workTree: string): Promise<string | null> {
  const budget = { left: mostEntries };
  const waiting: BytePath[] = [toBytePath(workTree)];
  while (waiting.length > 0 && budget.left > 0) {
    const folders = waiting.splice(-readAtOnce);
    const read = folders.map(async (folder) => (await entriesOf(folder, budget)).map((entry) => ({ folder, entry })));
    for (const { folder, entry } of (await Promise.all(read)).flat()) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== '.git') waiting.push(file);
      } else if (rules.includes(entry.name) && isOdd(entry)) return shown(file);
    }
  }
  return null;
}

/** Rejects with `workspace_unavailable` when there is such a file. */
export async function refuseOddRules(workTree: string): Promise<void> {
  const odd = await findOddRules(workTree);
  if (odd !== null)
    throw new BatonError('workspace_unavailable', `${odd} is not a regular file, and git would wait for it.`);
}

/** A link does not count: git does not follow it here. */
function isOdd(entry: Dirent): boolean {
  return !entry.isFile() && !entry.isSymbolicLink();
}

async function entriesOf(folder: BytePath, budget: { left: number }): Promise<readonly Dirent[]> {
  try {
    for await (const { entries } of walkFolders(folder, { budget, enters: () => false })) return entries;
  } catch {
    // An unreadable folder: see the header of `findOddRules`.
  }
  return [];
}
