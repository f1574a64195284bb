import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type BytePath, toBytePath } from '../../walk-folders.ts';
import type { GitDirectory } from './git-directory.ts';

/**
 * The first folder of an agent's git directory that is, links followed, neither in one of these homes nor in a cache
 * that Baton lent; null when there is none. An agent can write any path as its common directory or as a place to borrow
 * from, and the daemon may read more than the agent: objects copied from there would leak the contents of other
 * repositories. No git command refuses such a place, so this check comes before any of them.
 */
export async function placeOutside(
  { folder, common, objects }: GitDirectory,
  homes: readonly string[],
  lent: readonly string[] = [],
): Promise<string | null> {
  for (const place of new Set([folder, common, ...objects])) {
    const isOurs = async (home: string): Promise<boolean> => isInside(place, home);
    // A damaged cache that was moved aside lies next to the new one.
    const isDamaged = async (cache: string): Promise<boolean> =>
      (await realOf(place)).startsWith(`${await placeOf(path.dirname(cache))}+damaged-`);
    if (!(await some([...homes, ...lent], isOurs)) && !(await some(lent, isDamaged))) return place;
  }
  return null;
}

export async function isInside(place: string, home: string): Promise<boolean> {
  const [real, known] = [await realOf(place), await placeOf(home)];
  return real === known || real.startsWith(`${known}/`);
}

/** The path at which an agent got a folder: it may have put a link in its place, but not on the way there. */
async function placeOf(folder: string): Promise<BytePath> {
  return `${await realOf(path.dirname(folder)).catch(() => '\0')}/${toBytePath(path.basename(folder))}`;
}

export async function realOf(place: string): Promise<BytePath> {
  return (await realpath(place, { encoding: 'buffer' })).toString('latin1');
}

async function some(names: readonly string[], isSo: (name: string) => Promise<boolean>): Promise<boolean> {
  for (const name of names) if (await isSo(name)) return true;
  return false;
}
