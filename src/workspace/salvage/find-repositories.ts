import { BatonError } from '../../core/baton-error.ts';
import { reasonOf } from '../file-system.ts';
import { type BytePath, type Folder, toBytePath, walkFolders } from '../walk-folders.ts';
import { shownPath, unsaved } from './salvage-errors.ts';

/** A folder with a `.git` in it. */
export interface FoundRepository {
  readonly folder: BytePath;
  /** Below the workspace; empty for its root. */
  readonly within: BytePath;
}

export interface WorkspaceContents {
  /** The outer before the inner. */
  readonly repositories: readonly FoundRepository[];
  /** How many entries there are outside of `.git` folders, without sockets, which cannot be saved. */
  readonly entries: number;
  /** The files that are in no repository, by their paths; none when the workspace itself is one. */
  readonly looseFiles: readonly BytePath[];
}

/** More than this is not looked through, and then it is not removed. */
const mostEntries = 1_000_000;

/**
 * Every repository in a workspace, nested ones included. Rejects with `salvage_failed` when the workspace could not be
 * seen completely, or holds a `.git` that is neither a folder nor a file: unknown counts as dirty.
 */
export async function findRepositories(workspace: string, most: number = mostEntries): Promise<WorkspaceContents> {
  const root = toBytePath(workspace);
  const repositories: FoundRepository[] = [];
  const looseFiles: BytePath[] = [];
  const covered = new Set<BytePath>();
  let entries = 0;
  try {
    for await (const folder of walkFolders(root, { budget: { left: most }, enters: (name) => !isGitName(name) })) {
      const within = folder.path.slice(root.length + 1);
      entries += folder.entries.filter((entry) => !entry.isSocket()).length;
      for (const entry of folder.entries.filter(({ name }) => isGitName(name))) {
        // Not every file system tells upper case from lower case; whose this is, is not for us to guess.
        if (entry.name !== '.git' || !(entry.isDirectory() || entry.isFile()))
          throw unsaved(
            'strange_git',
            `${shownPath(within)}/${entry.name} is neither a git directory nor a file that names one`,
          );
        repositories.push({ folder: folder.path, within });
        refuseTooMany(repositories.length);
      }
      if (!isInRepository(folder, covered))
        for (const name of filesIn(folder)) looseFiles.push(name.slice(root.length + 1));
    }
  } catch (error) {
    if (error instanceof BatonError && error.code === 'salvage_failed') throw error;
    throw unsaved('folder_unreadable', `not all of its folders can be read: ${reasonOf(error)}`, error);
  }
  const inOrder = repositories.toSorted((one, other) => (one.within < other.within ? -1 : 1));
  return { repositories: inOrder, entries, looseFiles };
}

function filesIn({ path, entries }: Folder): BytePath[] {
  const files = entries.filter((entry) => !entry.isDirectory() && !entry.isSocket());
  return files.map(({ name }) => `${path}/${name}`);
}

/** Whether a folder is a repository or inside of one; the outer comes before the inner. */
function isInRepository({ path, entries }: Folder, covered: Set<BytePath>): boolean {
  const isIn = covered.has(path.slice(0, path.lastIndexOf('/'))) || entries.some(({ name }) => isGitName(name));
  if (isIn) covered.add(path);
  return isIn;
}

/** Each costs a dozen calls to git: a workspace of thousands would keep everybody else waiting. */
const mostRepositories = 200;

export function refuseTooMany(repositories: number): void {
  if (repositories <= mostRepositories) return;
  const reason = `it holds more than ${mostRepositories} repositories; move those away that need not be saved`;
  throw unsaved('too_many_repositories', reason);
}

function isGitName(name: BytePath): boolean {
  return name.toLowerCase() === '.git';
}
