import path from 'node:path';
import type { Checkout } from './checkout.ts';
import type { GitDirectory } from './git-directory.ts';

/**
 * The first folder of an agent's git directory that is neither its own nor one that Baton lent; null when there is none. An
 * agent can write any path as a place to borrow from, and the daemon may read more than the agent: what is taken over
 * from there would carry the contents of other repositories out.
 */
export function strangeFolder(agents: GitDirectory, { workspace, gitDir, borrowed }: Checkout): string | null {
  const home = [workspace, gitDir, ...borrowed];
  // What was put aside of a damaged cache lies beside it.
  const caches = borrowed.map((objects) => `${path.dirname(objects)}+damaged-`);
  const isOurs = (folder: string): boolean =>
    home.some((known) => folder === known || folder.startsWith(`${known}/`)) ||
    caches.some((prefix) => folder.startsWith(prefix));
  return [agents.folder, agents.common, ...agents.objects].find((folder) => !isOurs(folder)) ?? null;
}
