import path from 'node:path';
import { reasonOf } from '../error-reason.ts';
import { foldersOf, fromBytePath, toBytePath } from '../folders-of.ts';
import { readGitDirectory } from '../git/read-git-directory.ts';
import { lookAt } from '../look-at.ts';
import { unsaved } from './find-repositories.ts';
import type { Repository } from './repository.ts';

const mostEntries = 1_000_000;

/**
 * The git directories of submodules whose files were put away. They lie inside the git directory of their superproject,
 * and their commits may be nowhere else.
 */
export async function orphanedModules(repositories: readonly Repository[]): Promise<Repository[]> {
  const inUse = new Set(repositories.map(({ directory }) => directory.folder));
  const found: Repository[] = [];
  for (const { directory, within } of repositories) {
    const modules = path.join(directory.common, 'modules');
    if ((await lookAt(modules)) === null) continue;
    try {
      for (const folder of await gitDirectoriesBelow(modules)) {
        if (inUse.has(folder)) continue;
        inUse.add(folder);
        const orphan = await readGitDirectory(folder);
        const inside = toBytePath(`.git/${path.relative(directory.common, folder)}`);
        const at = within === '' ? inside : `${within}/${inside}`;
        if (orphan !== null) found.push({ directory: orphan, workTree: null, within: at, nested: [], checkout: null });
      }
    } catch (error) {
      throw unsaved(`the submodules in ${modules} cannot be understood: ${reasonOf(error)}`, error);
    }
  }
  return found;
}

async function gitDirectoriesBelow(modules: string): Promise<string[]> {
  const found: string[] = [];
  const enters = (name: string): boolean => !['objects', 'refs', 'logs', 'hooks'].includes(name);
  for await (const { path: folder, entries } of foldersOf(toBytePath(modules), {
    budget: { left: mostEntries },
    enters,
  })) {
    const has = (name: string): boolean => entries.some((entry) => entry.name === name);
    if (has('HEAD') && has('objects') && has('refs')) found.push(fromBytePath(folder).toString('utf8'));
  }
  return found;
}
