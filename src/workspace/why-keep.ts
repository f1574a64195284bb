import { harmlessLine } from '../core/harmless-line.ts';
import { reasonOf } from './error-reason.ts';
import { type Folder, foldersOf, fromBytePath, toBytePath } from './folders-of.ts';

/** A workspace with more entries than this is not looked through to its end. */
const mostEntries = 200_000;

/** What a directory has that is itself a repository, without a `.git`. */
const bareRepository = ['HEAD', 'objects', 'refs'];

/**
 * Why a directory must not be removed, or null when it may be: it holds a git repository, whose commits may be nowhere
 * else, or it could not be looked through to its end (law 8). Nothing is opened but directories, no link is followed.
 */
export async function whyKeep(path: string, entries: number = mostEntries): Promise<string | null> {
  const root = toBytePath(path);
  try {
    for await (const folder of foldersOf(root, { budget: { left: entries }, enters: () => true })) {
      const found = repositoryIn(folder);
      if (found !== null) return `it holds a git repository (${shown(found.slice(root.length + 1))})`;
    }
    return null;
  } catch (error) {
    return `it could not be looked through completely: ${reasonOf(error)}`;
  }
}

function repositoryIn({ path, entries }: Folder): string | null {
  // Not every file system tells upper case from lower case.
  const git = entries.find(({ name }) => name.toLowerCase() === '.git');
  if (git !== undefined) return `${path}/${git.name}`;
  const isBare = bareRepository.every((part) => entries.some(({ name }) => name === part));
  return isBare ? `${path}/HEAD` : null;
}

function shown(path: string): string {
  return harmlessLine(fromBytePath(path).toString('utf8'));
}
