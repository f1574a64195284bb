import type { Dirent } from 'node:fs';
import path from 'node:path';
import { lstatOrNull } from '../file-system.ts';
import { placeOutside } from '../git/read/place-outside.ts';
import { type BytePath, fromBytePath, toBytePath, walkFolders } from '../walk-folders.ts';
import { refuseTooMany } from './find-repositories.ts';
import { type Repository, readUnderstood } from './repository.ts';
import { unsaved } from './salvage-errors.ts';

const mostEntries = 1_000_000;

/**
 * The git directories of submodules whose files were removed from the work tree. They lie inside the git directory of
 * their superproject, and their commits may be nowhere else. Those of a repository that only lent a worktree stay where
 * they are, except those that belong to that worktree.
 */
export async function unusedSubmodules(repositories: readonly Repository[]): Promise<Repository[]> {
  const inUse = new Set(repositories.map(({ directory }) => directory.folder));
  const found: Repository[] = [];
  for (const { directory, within, isLent } of repositories) {
    for (const home of new Set([directory.folder, ...(isLent ? [] : [directory.common])])) {
      for (const folder of await gitDirectoriesBelow(path.join(home, 'modules'))) {
        if (inUse.has(folder)) continue;
        inUse.add(folder);
        const inside = toBytePath(`.git/${path.relative(home, folder)}`);
        found.push(await readSubmodule(folder, home, within === '' ? inside : `${within}/${inside}`));
        refuseTooMany(repositories.length + found.length);
      }
    }
  }
  return found;
}

async function readSubmodule(folder: string, home: string, within: BytePath): Promise<Repository> {
  const directory = await readUnderstood(folder, within);
  const strange = await placeOutside(directory, [home]);
  if (strange !== null) throw unsaved('kept_elsewhere', `${folder} uses files outside of the workspace: ${strange}`);
  return { directory, workTree: null, within, nested: [], checkout: null, isLent: false };
}

/** Folders of a git directory that are never submodules, even if a submodule has such a name. */
const ownFolders: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'hooks']);

async function gitDirectoriesBelow(modules: string): Promise<string[]> {
  const top = await lstatOrNull(modules);
  if (top === null) return [];
  if (!top.isDirectory()) throw unsaved('strange_git', `${modules} is not a directory`);
  const found = new Set<BytePath>();
  const enters = (name: string, folder: BytePath): boolean => !(found.has(folder) && ownFolders.has(name));
  for await (const { path: folder, entries } of walkFolders(toBytePath(modules), {
    budget: { left: mostEntries },
    enters,
  })) {
    const named = (wanted: string): Dirent | undefined => entries.find(({ name }) => name === wanted);
    // A submodule may be called HEAD.
    const hasHead = named('HEAD')?.isDirectory() === false;
    if (hasHead && named('objects') !== undefined && named('refs') !== undefined) found.add(folder);
  }
  return [...found].map((folder) => fromBytePath(folder).toString('utf8'));
}
