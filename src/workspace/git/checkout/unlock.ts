import { rm } from 'node:fs/promises';
import { lstatOrNull } from '../../file-system.ts';
import { type BytePath, fromBytePath, toBytePath, walkFolders } from '../../walk-folders.ts';
import { nameText } from '../read/git-files.ts';

const mostEntries = 200_000;

/** Folders of a git directory where no lock is, and of its objects the only ones where one is. */
const withoutLocks = ['hooks', 'lfs', 'rr-cache'];
const objectsWithLocks = ['info', 'pack'];

/**
 * Removes the locks that a killed git left in a git directory which belongs to one workspace, while no process works
 * there: plain files called `*.lock`, where git makes them. No link is followed, and the repository that a linked
 * worktree belongs to is not touched: others work there. Returns the removed paths, relative to the git directory.
 */
export async function unlockGitDirectory(gitDir: string, most: number = mostEntries): Promise<readonly string[]> {
  const root = toBytePath(gitDir);
  if (!(await lstatOrNull(gitDir))?.isDirectory()) return [];
  const removed: string[] = [];
  const walk = {
    budget: { left: most },
    enters: (name: BytePath, folder: BytePath) => enters(root, name, folder),
  };
  for await (const { path, entries } of walkFolders(root, walk)) {
    for (const entry of entries) {
      if (!entry.isFile() || !entry.name.endsWith('.lock')) continue;
      const file = `${path}/${entry.name}`;
      await rm(fromBytePath(file), { force: true });
      removed.push(nameText(file.slice(root.length + 1)));
    }
  }
  return removed;
}

function enters(root: BytePath, name: BytePath, folder: BytePath): boolean {
  if (folder === `${root}/objects`) return objectsWithLocks.includes(name);
  return folder !== root || !withoutLocks.includes(name);
}
