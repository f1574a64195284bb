import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Surroundings } from './surroundings.ts';

/**
 * Where Baton stores the state of one workflow file: `--state-dir`, or a separate folder in the user's state folder
 * (XDG). Never next to the workflow file: that is a repository, and an agent may write in repositories.
 */
export function stateFolder(workflowPath: string, flag: string | undefined, surroundings: Surroundings): string {
  if (flag !== undefined) return path.resolve(surroundings.cwd, flag);
  return path.join(userFolder(surroundings), folderName(workflowPath));
}

/**
 * The root of the workspaces of a workflow file that names none. Each file has its own: two projects may both have a
 * BAT-1, and their agents must not share a workspace. Earlier versions had it in the folder for temporary files, where
 * any user can make it first; a root that this user has there stays in use until it is empty.
 */
export function defaultWorkspaceRoot(
  workflowPath: string,
  flag: string | undefined,
  surroundings: Surroundings,
): string {
  const earlier = path.join(surroundings.tmpDir, 'baton_workspaces', folderName(workflowPath));
  if (isOwnAndFilled(earlier, surroundings.uid)) return earlier;
  return path.join(stateFolder(workflowPath, flag, surroundings), 'workspaces');
}

function isOwnAndFilled(folder: string, uid: number | null): boolean {
  try {
    const found = lstatSync(folder);
    return found.isDirectory() && (uid === null || found.uid === uid) && readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

function folderName(workflowPath: string): string {
  const hash = createHash('sha256').update(workflowPath).digest('hex').slice(0, 12);
  const name = path.basename(path.dirname(workflowPath)).replaceAll(/[^A-Za-z0-9._-]/g, '_');
  return `${name}-${hash}`;
}

/** The file of the API tokens of all Batons of this user. */
export function tokenFile(surroundings: Surroundings): string {
  return path.join(userFolder(surroundings), 'tokens.json');
}

/** The folder of all Batons of this user. */
export function userFolder({ env, homeDir }: Surroundings): string {
  return path.join(env.XDG_STATE_HOME || path.join(homeDir, '.local', 'state'), 'baton');
}
