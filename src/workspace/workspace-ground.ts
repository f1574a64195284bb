import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../core/logger.ts';
import { deleteTree } from './delete-tree.ts';
import { lookAt } from './file-system.ts';
import { clearLeftovers } from './git/cache/clear-leftovers.ts';
import { createGit, type Git, type GitParts } from './git/git.ts';
import { type GitPlaces, gitPlaces } from './git/git-places.ts';
import { createOneAtATime, type OneAtATime } from './one-at-a-time.ts';

/** What all workspaces of a daemon stand on, whatever their settings: git with its turns, and where its things are. */
export interface WorkspaceGround {
  readonly git: Git;
  readonly places: GitPlaces;
  /** By the path of a workspace: nobody removes what somebody else is making or finishing. */
  readonly oneAtATime: OneAtATime;
}

export function createWorkspaceGround(parts: GitParts & { readonly stateDir: string }): WorkspaceGround {
  return { git: createGit(parts), places: gitPlaces(parts.stateDir), oneAtATime: createOneAtATime() };
}

/**
 * Drops what operations before a restart left behind: its scratch folder, and the locks of a killed git in the salvage.
 * Only for whoever has the state folder to itself.
 */
export async function clearEarlierLife({ places }: WorkspaceGround, logger: Logger): Promise<void> {
  try {
    await deleteTree(places.scratch);
    const folder = path.dirname(places.salvage);
    const names = (await lookAt(folder)) === null ? [] : await readdir(folder);
    for (const name of names.filter((each) => /^salvage.*\.git$/.test(each)))
      await clearLeftovers(path.join(folder, name));
  } catch (error) {
    logger.warn('leftover_files_kept', { error });
  }
}
