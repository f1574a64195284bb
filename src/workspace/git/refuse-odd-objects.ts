import { hasCode } from '../error-reason.ts';
import { type BytePath, foldersOf } from '../folders-of.ts';
import { notUnderstood, shown } from './git-files.ts';

/** The folders of an object directory that git reads from; what else is there is nobody's, or half-written. */
const readFolders = /^(?:pack|info|[0-9a-f]{2})$/;

/**
 * Rejects when anything that git would open in an object directory is neither a plain file nor a folder. A link leads to
 * the objects of another repository, which the daemon may read and an agent may not; at a pipe git waits for ever.
 */
export async function refuseOddObjects(objects: BytePath, budget: { left: number }): Promise<void> {
  const folders = await foldersIn(objects, budget);
  for (const name of folders.filter((each) => readFolders.test(each))) {
    const inner = await foldersIn(`${objects}/${name}`, budget);
    if (name === 'info' && inner.includes('commit-graphs')) await foldersIn(`${objects}/info/commit-graphs`, budget);
  }
}

async function foldersIn(folder: BytePath, budget: { left: number }): Promise<readonly BytePath[]> {
  const found: BytePath[] = [];
  try {
    for await (const { entries } of foldersOf(folder, { budget, enters: () => false })) {
      for (const entry of entries) {
        if (entry.isDirectory()) found.push(entry.name);
        else if (!entry.isFile())
          throw notUnderstood(`${shown(`${folder}/${entry.name}`)} is neither a file nor a folder.`);
      }
    }
  } catch (error) {
    // Somebody's git may tidy up meanwhile: what is gone is not opened either.
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  return found;
}
