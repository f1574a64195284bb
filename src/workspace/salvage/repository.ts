import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from '../error-reason.ts';
import { type BytePath, fromBytePath, toBytePath } from '../folders-of.ts';
import type { Checkout } from '../git/checkout.ts';
import type { GitDirectory } from '../git/git-directory.ts';
import { readGitDirectory } from '../git/read-git-directory.ts';
import { type FoundRepository, shownPath, unsaved } from './find-repositories.ts';

/** One repository of a workspace, as far as it can be known without asking git. */
export interface Repository {
  readonly directory: GitDirectory;
  /** Its files; null for one that has only its history, such as a submodule that was put away. */
  readonly workTree: string | null;
  readonly within: BytePath;
  /** Folders with repositories of their own, below this one. */
  readonly nested: readonly BytePath[];
  /** What Baton wrote down when it filled the workspace; null for every other repository. */
  readonly checkout: Checkout | null;
}

/** Where objects are read and written during a save. */
export interface ObjectStore {
  /** New ones, in the scratch folder. */
  readonly objects: string;
  /** The agent's, those that it borrows, and those of the repository that takes the work. */
  readonly borrowed: readonly string[];
}

export interface RepositoriesRequest {
  readonly folder: string;
  readonly found: readonly FoundRepository[];
  readonly checkout: Checkout | null;
  readonly scratch: string;
}

/**
 * The repositories of a workspace. A workspace that Baton filled counts as its repository also when the agent has removed
 * or replaced its `.git`. Rejects with `salvage_failed` for every one that cannot be understood.
 */
export async function readRepositories(request: RepositoriesRequest): Promise<Repository[]> {
  const { found, checkout, scratch, folder } = request;
  const repositories: Repository[] = [];
  for (const [number, each] of found.entries()) {
    const workTree = await asString(each.folder, path.join(scratch, `tree-${number}`));
    const directory = await understood(`${workTree}/.git`, each.within);
    if (directory === null) throw unsaved(`${shownPath(each.within)} holds a .git that is no repository`);
    const isOurs = each.within === '' && checkout !== null && directory.folder === ownFolder(checkout, workTree);
    repositories.push({
      directory,
      workTree,
      within: each.within,
      nested: below(each.within, found),
      checkout: isOurs ? checkout : null,
    });
  }
  if (checkout !== null && !repositories.some((each) => each.checkout !== null)) {
    repositories.unshift({
      directory: await lostDirectory(checkout),
      workTree: folder,
      within: '',
      nested: below('', found),
      checkout,
    });
  }
  return repositories;
}

/** A clone has its git directory inside, and a removal has renamed the workspace by now. */
function ownFolder({ strategy, gitDir }: Checkout, workTree: string): string {
  return strategy === 'clone' ? path.join(workTree, '.git') : gitDir;
}

async function understood(dotGit: string, within: BytePath): Promise<GitDirectory | null> {
  try {
    return await readGitDirectory(dotGit);
  } catch (error) {
    throw unsaved(`the git directory of ${shownPath(within)} cannot be understood: ${reasonOf(error)}`, error);
  }
}

/** The agent took the `.git` away. What is left of it is in the state folder, or else there is only where it began. */
async function lostDirectory(checkout: Checkout): Promise<GitDirectory> {
  const { strategy, gitDir, baseCommit, objectFormat, borrowed } = checkout;
  const kept = strategy === 'worktree' ? await understood(gitDir, '') : null;
  if (kept !== null) return kept;
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

/** A path that is no text is reached by a link whose name is. */
async function asString(folder: BytePath, link: string): Promise<string> {
  const text = fromBytePath(folder).toString('utf8');
  if (toBytePath(text) === folder) return text;
  await mkdir(path.dirname(link), { recursive: true });
  await symlink(fromBytePath(folder), link);
  return link;
}
