import path from 'node:path';
import { type BytePath, toBytePath } from '../folders-of.ts';
import type { Checkout } from '../git/checkout.ts';
import type { GitDirectory } from '../git/git-directory.ts';
import { textIn, withoutLineEnd } from '../git/git-files.ts';
import { isInside, placeOutside, realOf } from '../git/place-outside.ts';
import { shownPath, unsaved } from './find-repositories.ts';

/**
 * An agent can write any path as the place of its git directory, of its references or of objects to borrow, and the daemon
 * may read more than the agent: saved work must not carry the contents of other repositories along. So the git directory
 * of each repository in a workspace, what it shares and what it borrows lies, links followed,
 *
 * - inside the workspace, in the git directory that Baton made for this workspace, or in the cache that Baton lent it; or
 * - in a repository that has lent a worktree to exactly this folder, as `git worktree add` in a hook does. That repository
 *   says so itself, in its own `worktrees/<name>/gitdir`, where no sandboxed agent can write. Never in the state folder.
 *
 * Whatever else is there is kept: a `.git` file alone, and borrowed objects elsewhere (`git clone --shared`), are what
 * anybody can write.
 */
export interface OwnPlaces {
  /** Where the files are now, and where the workspace was. */
  readonly folder: string;
  readonly workspace: string;
  readonly checkout: Checkout | null;
  /** Git's folder in the state folder, with the git directories of all workspaces. */
  readonly state: string;
}

/** Rejects with `salvage_failed` for a repository elsewhere. True when it only lent a worktree and stays. */
export async function refuseStrangePlace(
  directory: GitDirectory,
  within: BytePath,
  { folder, workspace, checkout, state }: OwnPlaces,
): Promise<boolean> {
  const homes = [folder, ...(checkout === null ? [] : [checkout.gitDir])];
  const strange = await placeOutside(directory, homes, checkout?.borrowed);
  if (strange === null) return false;
  const isOfBaton = await isInside(directory.folder, state);
  if (!isOfBaton && (await isLentTo(directory, within, [folder, workspace]))) return true;
  throw unsaved('kept_elsewhere', `the repository in ${shownPath(within)} is kept or borrows elsewhere, in ${strange}`);
}

/** Whether this is a worktree of a repository that names one of these folders as the place it lent it to. */
async function isLentTo(
  { folder, common }: GitDirectory,
  within: BytePath,
  homes: readonly string[],
): Promise<boolean> {
  if (path.dirname(folder) !== path.join(common, 'worktrees')) return false;
  const text = await textIn(toBytePath(path.join(folder, 'gitdir')));
  if (text === null) return false;
  const named = path.posix.resolve(toBytePath(folder), withoutLineEnd(text));
  for (const home of homes) {
    const parent = await realOf(path.dirname(home));
    const below = within === '' ? '.git' : `${within}/.git`;
    const real = `${parent}/${toBytePath(path.basename(home))}/${below}`;
    if (named === real || named === `${toBytePath(home)}/${below}`) return true;
  }
  return false;
}
