import path from 'node:path';
import { lookAt } from '../../workspace/file-system.ts';
import { checkoutFolders, readRecord } from '../../workspace/git/checkout/checkout-record.ts';
import { gitPlaces } from '../../workspace/git/git-places.ts';

/**
 * The git directory of a workspace, by Baton's own record of the checkout, or the one that lies in it; null where there is
 * none. A file or a link `.git` is not followed: an agent can write it, and what it names is opened for writing by whoever
 * asks here.
 */
export async function gitDirectoryOf(workspace: string, stateDir: string): Promise<string | null> {
  try {
    const record = await readRecord(checkoutFolders(gitPlaces(stateDir), workspace).record);
    if (typeof record === 'object' && record.workspace === workspace) return record.gitDir;
    const inside = path.join(workspace, '.git');
    return (await lookAt(inside))?.isDirectory() === true ? inside : null;
  } catch {
    // Without it the conversation opens all the same; only a commit in it does not work.
    return null;
  }
}
