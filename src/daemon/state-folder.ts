import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Surroundings } from './surroundings.ts';

/**
 * Where Baton stores the state of one workflow file: `--state-dir`, or a separate folder in the user's state folder
 * (XDG). Never next to the workflow file: that is a repository, and an agent may write in repositories.
 */
export function stateFolder(workflowPath: string, flag: string | undefined, surroundings: Surroundings): string {
  if (flag !== undefined) return path.resolve(surroundings.cwd, flag);
  const hash = createHash('sha256').update(workflowPath).digest('hex').slice(0, 12);
  const name = path.basename(path.dirname(workflowPath)).replaceAll(/[^A-Za-z0-9._-]/g, '_');
  return path.join(userFolder(surroundings), `${name}-${hash}`);
}

/** The file of the API tokens of all Batons of this user. */
export function tokenFile(surroundings: Surroundings): string {
  return path.join(userFolder(surroundings), 'tokens.json');
}

function userFolder({ env, homeDir }: Surroundings): string {
  return path.join(env.XDG_STATE_HOME || path.join(homeDir, '.local', 'state'), 'baton');
}
