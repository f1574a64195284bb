import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../core/logger.ts';
import { deleteTree } from './delete-tree.ts';
import { lstatOrNull } from './file-system.ts';
import { clearLeftovers } from './git/cache/clear-leftovers.ts';
import { createGit, type Git, type GitParts } from './git/git.ts';
import { type GitPlaces, gitPlaces } from './git/git-places.ts';
import { createOneAtATime, type OneAtATime } from './one-at-a-time.ts';

/** Shared by all workspaces of a daemon, for all settings: git with its limits, and the paths of Baton's git files. */
export interface WorkspaceResources {
  readonly git: Git;
  readonly places: GitPlaces;
  /** By the path of a workspace: no removal runs while another caller makes or finishes that workspace. */
  readonly oneAtATime: OneAtATime;
}

export function createWorkspaceResources(parts: GitParts & { readonly stateDir: string }): WorkspaceResources {
  return { git: createGit(parts), places: gitPlaces(parts.stateDir), oneAtATime: createOneAtATime() };
}

/**
 * Removes the leftovers of a previous daemon: the scratch folder, and the locks of a killed git in the salvage. Only for
 * a caller that has exclusive use of the state folder.
 */
export async function clearAfterRestart({ places }: WorkspaceResources, logger: Logger): Promise<void> {
  try {
    await deleteTree(places.scratch);
    const folder = path.dirname(places.salvage);
    const names = (await lstatOrNull(folder)) === null ? [] : await readdir(folder);
    for (const name of names.filter((each) => /^salvage.*\.git$/.test(each)))
      await clearLeftovers(path.join(folder, name));
  } catch (error) {
    logger.warn('leftover_files_kept', { error });
  }
}
