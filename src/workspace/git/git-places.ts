import { createHash } from 'node:crypto';
import path from 'node:path';

/**
 * Where Baton keeps its git files in the state folder. An agent writes only the one folder there that is its own:
 *
 * - `caches/<name>-<hash>.git`: a bare copy of each repository, Baton's own;
 * - `checkouts/<key>-<hash>/`: the files of one workspace that Baton filled: `checkout.json`, the shadow git directory
 *   `shadow/`, and for the strategy `worktree` the agent's own git directory `git/`;
 * - `salvage.git` and `archives/`: saved work, where there is no local repository to keep it.
 */
export interface GitPlaces {
  readonly caches: string;
  readonly checkouts: string;
  readonly salvage: string;
  readonly archives: string;
  /** For files of a single operation; emptied at every start. */
  readonly scratch: string;
}

export function gitPlaces(stateDir: string): GitPlaces {
  const root = path.join(stateDir, 'git');
  return {
    caches: path.join(root, 'caches'),
    checkouts: path.join(root, 'checkouts'),
    salvage: path.join(root, 'salvage.git'),
    archives: path.join(root, 'archives'),
    scratch: path.join(root, 'scratch'),
  };
}

/** A unique folder name from which people can tell what the folder is for. */
export function folderName(shown: string, whole: string): string {
  const word = shown.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(-60) || 'x';
  return `${word}-${createHash('sha256').update(whole).digest('hex').slice(0, 16)}`;
}
