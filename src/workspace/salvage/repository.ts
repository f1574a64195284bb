import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { lstatOrNull, reasonOf } from '../file-system.ts';
import type { Checkout } from '../git/checkout/checkout.ts';
import type { GitDirectory } from '../git/read/git-directory.ts';
import { textIn, withoutLineEnd } from '../git/read/git-files.ts';
import { isInside, placeOutside, realOf } from '../git/read/place-outside.ts';
import { readGitDirectory } from '../git/read/read-git-directory.ts';
import { type BytePath, fromBytePath, toBytePath } from '../walk-folders.ts';
import type { FoundRepository } from './find-repositories.ts';
import { shownPath, unsaved } from './salvage-errors.ts';

/** One repository of a workspace, as far as Baton knows it without calling git. */
export interface Repository {
  readonly directory: GitDirectory;
  /** Its files; null for one that only has history, such as an unused submodule. */
  readonly workTree: string | null;
  readonly within: BytePath;
  /** Folders below this one that are repositories themselves. */
  readonly nested: readonly BytePath[];
  /** The record that Baton wrote when it filled the workspace; null for every other repository. */
  readonly checkout: Checkout | null;
  /** Whether the repository is elsewhere and only has a worktree here: then it stays, with its own content. */
  readonly isLent: boolean;
}

/** Where objects are read and written during a save. */
export interface ObjectStore {
  /** The folder for new objects, in the scratch folder. */
  readonly objects: string;
  /** The objects of the agent, those that it borrows, and those of the repository that receives the work. */
  readonly borrowed: readonly string[];
}

export interface RepositoriesRequest {
  readonly found: readonly FoundRepository[];
  readonly places: OwnPlaces;
  readonly scratch: string;
}

/**
 * The repositories of a workspace. A workspace that Baton filled counts as its repository also when the agent has removed
 * or replaced its `.git`. Rejects with `salvage_failed` for every one that cannot be understood.
 */
export async function readRepositories(request: RepositoriesRequest): Promise<Repository[]> {
  const { found, places, scratch } = request;
  const { folder, checkout } = places;
  const repositories: Repository[] = [];
  for (const [number, each] of found.entries()) {
    const workTree = await asString(each.folder, path.join(scratch, `tree-${number}`));
    const directory = await readUnderstood(`${workTree}/.git`, each.within);
    const isOurs = each.within === '' && checkout !== null && directory.folder === ownFolder(checkout, workTree);
    repositories.push({
      directory,
      workTree,
      within: each.within,
      nested: below(each.within, found),
      checkout: isOurs ? checkout : null,
      isLent: await refuseStrangePlace(directory, each.within, places),
    });
  }
  if (checkout !== null && !repositories.some((each) => each.checkout !== null)) {
    const isThere = checkout.strategy === 'worktree' && (await lstatOrNull(checkout.gitDir)) !== null;
    const kept = isThere ? await readUnderstood(checkout.gitDir, '') : null;
    if (kept !== null) await refuseStrangePlace(kept, '', places);
    repositories.unshift({
      directory: kept ?? beginningOf(checkout),
      workTree: folder,
      within: '',
      nested: below('', found),
      checkout,
      isLent: false,
    });
  }
  return repositories;
}

/** A clone has its git directory inside, and a removal has already renamed the workspace. */
function ownFolder({ strategy, gitDir }: Checkout, workTree: string): string {
  return strategy === 'clone' ? path.join(workTree, '.git') : gitDir;
}

/** Rejects with `salvage_failed` for a path that is not a git directory, or cannot be understood completely. */
export async function readUnderstood(dotGit: string, within: BytePath): Promise<GitDirectory> {
  const directory = await readGitDirectory(dotGit).catch((error: unknown) => {
    const reason = `the git directory of ${shownPath(within)} cannot be understood: ${reasonOf(error)}`;
    throw unsaved('git_directory_unreadable', reason, error);
  });
  if (directory !== null) return directory;
  throw unsaved('strange_git', `${shownPath(within)} has a .git that is not a repository`);
}

/** For a workspace whose `.git` the agent removed completely: only the start of the checkout is known. */
function beginningOf({ gitDir, baseCommit, objectFormat, borrowed }: Checkout): GitDirectory {
  return {
    folder: gitDir,
    common: gitDir,
    objectFormat,
    objects: borrowed,
    headReference: null,
    head: baseCommit,
    tips: [],
    past: [],
    shallow: [],
  };
}

function below(within: BytePath, found: readonly FoundRepository[]): BytePath[] {
  return found
    .filter((each) => each.within !== within && (within === '' || each.within.startsWith(`${within}/`)))
    .map((each) => (within === '' ? each.within : each.within.slice(within.length + 1)));
}

/** A path that is not text is reached by a link whose name is text. */
async function asString(folder: BytePath, link: string): Promise<string> {
  const text = fromBytePath(folder).toString('utf8');
  if (toBytePath(text) === folder) return text;
  await mkdir(path.dirname(link), { recursive: true });
  await symlink(fromBytePath(folder), link);
  return link;
}

/**
 * An agent can write any path as its git directory, or as a place of references or borrowed objects, and the daemon may
 * read more than the agent. Saved work must not contain objects of other repositories. So the git directory of each
 * repository in a workspace, with everything that it shares and borrows, must be, with links resolved,
 *
 * - inside the workspace, in the git directory that Baton made for this workspace, or in a cache that it borrows from; or
 * - in a repository that has a worktree at exactly this folder, as after `git worktree add` in a hook. That repository
 *   confirms it in its own `worktrees/<name>/gitdir`, where no sandboxed agent can write. Never in the state folder.
 *
 * A workspace with anything else is kept: any agent can write a `.git` file, or borrow objects from elsewhere
 * (`git clone --shared`).
 */
export interface OwnPlaces {
  /** The current path of the files, and the original path of the workspace. */
  readonly folder: string;
  readonly workspace: string;
  readonly checkout: Checkout | null;
  /** Git's folder in the state folder, with the git directories of all workspaces. */
  readonly state: string;
}

/** Rejects with `salvage_failed` for a repository elsewhere. True when it only has a worktree here and stays. */
async function refuseStrangePlace(
  directory: GitDirectory,
  within: BytePath,
  { folder, workspace, checkout, state }: OwnPlaces,
): Promise<boolean> {
  const homes = [folder, ...(checkout === null ? [] : [checkout.gitDir])];
  const strange = await placeOutside(directory, homes, checkout?.borrowed);
  if (strange === null) return false;
  const isOfBaton = await isInside(directory.folder, state);
  if (!isOfBaton && (await isLentTo(directory, within, [folder, workspace]))) return true;
  throw unsaved(
    'kept_elsewhere',
    `the repository in ${shownPath(within)} uses files outside of the workspace: ${strange}`,
  );
}

/** Whether this is a worktree of a repository that names one of these folders as the path of that worktree. */
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
