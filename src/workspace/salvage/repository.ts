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

/** One repository of a workspace, as far as it is known without asking git. */
export interface Repository {
  readonly directory: GitDirectory;
  /** Its files; null for one that has only its history, such as a submodule that was put away. */
  readonly workTree: string | null;
  readonly within: BytePath;
  /** Folders with repositories of their own, below this one. */
  readonly nested: readonly BytePath[];
  /** The record that Baton wrote when it filled the workspace; null for every other repository. */
  readonly checkout: Checkout | null;
  /** Whether the repository is elsewhere and only lent a worktree: then it stays, together with its own content. */
  readonly isLent: boolean;
}

/** Where objects are read and written during a save. */
export interface ObjectStore {
  /** New ones, in the scratch folder. */
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

/** A clone has its git directory inside, and a removal has renamed the workspace by now. */
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

/** The agent removed the `.git`, and nothing of it is left: only the start of the checkout is known. */
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
 * An agent can write any path as the place of its git directory, of its references or of objects to borrow, and the daemon
 * may read more than the agent: saved work must not carry the contents of other repositories along. So the git directory
 * of each repository in a workspace, with everything it shares and borrows, lies, links followed,
 *
 * - inside the workspace, in the git directory that Baton made for this workspace, or in the cache that Baton lent it; or
 * - in a repository that has lent a worktree to exactly this folder, as `git worktree add` in a hook does. That repository
 *   says so itself, in its own `worktrees/<name>/gitdir`, where no sandboxed agent can write. Never in the state folder.
 *
 * A workspace with anything else is kept: anyone can write a `.git` file alone, or borrowed objects elsewhere
 * (`git clone --shared`).
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
