import type { Dirent } from 'node:fs';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { reasonOf } from '../error-reason.ts';
import { type BytePath, foldersOf, fromBytePath, toBytePath } from '../folders-of.ts';
import { placeOutside } from '../git/read/place-outside.ts';
import { readGitDirectory } from '../git/read/read-git-directory.ts';
import { lookAt } from '../look-at.ts';
import { refuseTooMany } from './find-repositories.ts';
import type { Repository } from './repository.ts';
import { unsaved } from './salvage-errors.ts';

const mostEntries = 1_000_000;

/**
 * The git directories of submodules whose files were put away. They lie inside the git directory of their superproject,
 * and their commits may be nowhere else. Those of a repository that only lent a worktree stay where they are, but for what
 * belongs to that worktree.
 */
export async function orphanedModules(repositories: readonly Repository[]): Promise<Repository[]> {
  const inUse = new Set(repositories.map(({ directory }) => directory.folder));
  const found: Repository[] = [];
  for (const { directory, within, isLent } of repositories) {
    for (const home of new Set([directory.folder, ...(isLent ? [] : [directory.common])])) {
      const modules = path.join(home, 'modules');
      try {
        for (const folder of await gitDirectoriesBelow(modules)) {
          if (inUse.has(folder)) continue;
          inUse.add(folder);
          found.push(await readOrphan(folder, home, within));
          refuseTooMany(repositories.length + found.length);
        }
      } catch (error) {
        throw asUnsaved(error, modules);
      }
    }
  }
  return found;
}

function asUnsaved(error: unknown, modules: string): BatonError {
  if (error instanceof BatonError && error.code === 'salvage_failed') return error;
  return unsaved(
    'git_directory_unreadable',
    `the submodules in ${modules} cannot be understood: ${reasonOf(error)}`,
    error,
  );
}

async function readOrphan(folder: string, home: string, within: BytePath): Promise<Repository> {
  const directory = await readGitDirectory(folder);
  if (directory === null) throw unsaved('strange_git', `${folder} is no git directory`);
  const strange = await placeOutside(directory, [home]);
  if (strange !== null) throw unsaved('kept_elsewhere', `${folder} is kept or borrows elsewhere, in ${strange}`);
  const inside = toBytePath(`.git/${path.relative(home, folder)}`);
  const at = within === '' ? inside : `${within}/${inside}`;
  return { directory, workTree: null, within: at, nested: [], checkout: null, isLent: false };
}

/** What a git directory holds that is no submodule, however much a submodule may be called like that. */
const ownFolders: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'hooks']);

async function gitDirectoriesBelow(modules: string): Promise<string[]> {
  const top = await lookAt(modules);
  if (top === null) return [];
  if (!top.isDirectory()) throw unsaved('strange_git', `${modules} is no directory`);
  const found = new Set<BytePath>();
  const enters = (name: string, folder: BytePath): boolean => !(found.has(folder) && ownFolders.has(name));
  for await (const { path: folder, entries } of foldersOf(toBytePath(modules), {
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
