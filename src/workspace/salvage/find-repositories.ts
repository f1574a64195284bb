import { BatonError } from '../../core/baton-error.ts';
import { reasonOf } from '../file-system.ts';
import { type BytePath, type Folder, toBytePath, walkFolders } from '../walk-folders.ts';
import { shownPath, unsaved } from './salvage-errors.ts';

/** A folder with a `.git` in it. */
export interface FoundRepository {
  readonly folder: BytePath;
  /** Its path in the workspace; empty for the root of the workspace. */
  readonly within: BytePath;
}

export interface WorkspaceContents {
  /** Outer repositories come before inner ones. */
  readonly repositories: readonly FoundRepository[];
  /** How many entries there are outside of `.git` folders, without sockets, which cannot be saved. */
  readonly entries: number;
  /** The paths of files outside of all repositories; empty when the workspace itself is a repository. */
  readonly looseFiles: readonly BytePath[];
}

/** The most entries that are read; a workspace with more is kept. */
const mostEntries = 1_000_000;

/**
 * Every repository in a workspace, nested ones included. Rejects with `salvage_failed` when the workspace could not be
 * read completely, or has a `.git` that is neither a folder nor a file: unknown counts as dirty.
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
        // On a file system without upper and lower case this may be a `.git`; Baton cannot know.
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

/** Whether a folder is a repository or inside one; outer folders come before inner ones. */
function isInRepository({ path, entries }: Folder, covered: Set<BytePath>): boolean {
  const isIn = covered.has(path.slice(0, path.lastIndexOf('/'))) || entries.some(({ name }) => isGitName(name));
  if (isIn) covered.add(path);
  return isIn;
}

/** Each repository costs a dozen git calls, and other workspaces wait meanwhile. */
const mostRepositories = 200;

export function refuseTooMany(repositories: number): void {
  if (repositories <= mostRepositories) return;
  const reason = `it holds more than ${mostRepositories} repositories; move those away that need not be saved`;
  throw unsaved('too_many_repositories', reason);
}

function isGitName(name: BytePath): boolean {
  return name.toLowerCase() === '.git';
}
