import type { Logger } from '../core/logger.ts';
import { deleteTree } from './delete-tree.ts';
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

/** Drops what operations of an earlier life left behind. Only for whoever has the state folder to itself. */
export async function clearScratch({ places: { scratch } }: WorkspaceGround, logger: Logger): Promise<void> {
  try {
    await deleteTree(scratch);
  } catch (error) {
    logger.warn('What an earlier life left in its scratch folder could not be removed.', { folder: scratch, error });
  }
}
