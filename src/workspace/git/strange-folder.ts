import path from 'node:path';
import { canonicalPath } from '../canonical-path.ts';
import type { Checkout } from './checkout.ts';
import type { GitDirectory } from './git-directory.ts';

/**
 * The first folder of an agent's git directory that is neither its own nor one that Baton lent; null when there is none. An
 * agent can write any path as a place to borrow from, and the daemon may read more than the agent: what is taken over
 * from there would carry the contents of other repositories out.
 */
export function strangeFolder(agents: GitDirectory, { workspace, gitDir, borrowed }: Checkout): string | null {
  const lent = borrowed.map(canonicalPath);
  const home = [...[workspace, gitDir].map(placeOf), ...lent];
  // What was put aside of a damaged cache lies beside it.
  const caches = lent.map((objects) => `${path.dirname(objects)}+damaged-`);
  const isOurs = (folder: string): boolean => {
    const real = realPath(folder);
    return (
      home.some((known) => real === known || real?.startsWith(`${known}/`)) ||
      caches.some((prefix) => real?.startsWith(prefix))
    );
  };
  return [agents.folder, agents.common, ...agents.objects].find((folder) => !isOurs(folder)) ?? null;
}

/** Where an agent was given a folder: it may have put a link in its place, but not on the way there. */
function placeOf(folder: string): string {
  return path.join(canonicalPath(path.dirname(folder)), path.basename(folder));
}

/** Where git would get to; null when nobody can tell. */
function realPath(folder: string): string | null {
  try {
    return canonicalPath(folder);
  } catch {
    return null;
  }
}
