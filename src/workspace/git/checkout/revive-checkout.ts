import { copyFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import { deleteTree } from '../../delete-tree.ts';
import { lstatOrNull } from '../../file-system.ts';
import { readPlainFile } from '../../read-small-file.ts';
import { toBytePath } from '../../walk-folders.ts';
import { writeBareRepository } from '../bare-repository.ts';
import type { GitDirectory } from '../read/git-directory.ts';
import { placeOutside } from '../read/place-outside.ts';
import { readGitDirectory } from '../read/read-git-directory.ts';
import { type IndexEntry, readIndex } from '../read/read-index.ts';
import { refuseTreeBomb } from '../shadow/refuse-tree-bomb.ts';
import { type ObjectFormat, plainConfig, setShadow } from '../shadow/shadow-git.ts';
import { type CheckoutRecord, writeRecord } from './checkout-record.ts';
import { addCopiedFiles, type CheckoutWork } from './make-checkout.ts';
import { unlockGitDirectory } from './unlock.ts';

const mostIndexBytes = 256 * 1024 * 1024;

/**
 * Fills a deleted workspace from the git directory that outlived it: the agent's commits, branches and stashes are all
 * still there, and HEAD is where it was. Null when no work had been done there yet, so that it is better made again
 * from the current base. Rejects with `git_failed` or `workspace_unavailable` when it cannot be read.
 */
export async function reviveCheckout(earlier: CheckoutRecord, work: CheckoutWork): Promise<CheckoutRecord | null> {
  const { git, folders, place } = work;
  const { workspace, signal } = place;
  await unlockGitDirectory(folders.git);
  const agents = await readGitDirectory(folders.git);
  if (agents === null || agents.head === null || agents.objectFormat !== earlier.objectFormat)
    throw new BatonError('git_failed', `The git directory ${folders.git} is damaged.`);
  const strange = await placeOutside(agents, [earlier.workspace, earlier.gitDir], earlier.borrowed);
  if (strange !== null)
    throw new BatonError(
      'git_failed',
      `The git directory ${folders.git} uses files outside of the workspace: ${strange}.`,
    );
  if (await isUntouched(agents, earlier)) return null;
  const { head, objectFormat, objects } = agents;
  // A git directory of our own for the checkout: the agent's configuration in its own has no effect.
  const ours = path.join(folders.folder, 'reviving');
  await deleteTree(ours);
  await writeBareRepository({ folder: ours, objectFormat });
  await writeFile(path.join(ours, 'config'), plainConfig(objectFormat));
  const call = { gitDir: ours, borrowed: objects, signal };
  await refuseTreeBomb(git, call, head);
  await git.run({ ...call, args: ['read-tree', '--reset', '-u', head], workTree: workspace });
  const index = path.join(ours, 'index');
  await deleteTree(folders.shadow);
  await setShadow({ folder: folders.shadow, head, objectFormat, index });
  if ((await entriesIn(folders.git, objectFormat)) === null) {
    await copyFile(index, path.join(ours, 'index.copy'));
    await replaceIndex(folders.git, path.join(ours, 'index.copy'));
  }
  await writeFile(path.join(workspace, '.git'), `gitdir: ${folders.git}\n`);
  const excludes = await addCopiedFiles({ ...earlier, start: head, borrowed: objects }, work);
  const revived = { ...earlier, shadow: folders.shadow, gitDir: folders.git, excludes };
  await writeRecord(folders.record, revived);
  await deleteTree(ours);
  return revived;
}

/**
 * Whether the agent left nothing worth keeping there: no commit, no branch, nothing staged, no submodule, no worktree
 * of its own. An unreadable state counts as touched.
 */
async function isUntouched(agents: GitDirectory, earlier: CheckoutRecord): Promise<boolean> {
  const { folder, head, tips, past, objectFormat } = agents;
  const { start, baseCommit, found, shadow } = earlier;
  const isKnown = (id: string): boolean => [start, baseCommit, found].includes(id);
  if (head !== start || !tips.every(({ id }) => isKnown(id)) || !past.every(isKnown)) return false;
  for (const name of ['modules', 'worktrees']) if ((await lstatOrNull(path.join(folder, name))) !== null) return false;
  const staged = await entriesIn(folder, objectFormat);
  // The shadow has the index that the checkout began with.
  const began = await entriesIn(shadow, objectFormat);
  return staged !== null && began !== null && JSON.stringify(staged) === JSON.stringify(began);
}

/** The entries of an index; null when there is no plain and readable index. */
async function entriesIn(folder: string, objectFormat: ObjectFormat): Promise<readonly IndexEntry[] | null> {
  try {
    const bytes = await readPlainFile(toBytePath(path.join(folder, 'index')), mostIndexBytes);
    return bytes === null || bytes.length === 0 ? null : readIndex(bytes, objectFormat);
  } catch {
    return null;
  }
}

/**
 * The agent's own index stays where it can be read: the staged content is nowhere else. An unreadable one is kept under
 * another name. Renamed, not written: there may be a link, and a link is not followed.
 */
async function replaceIndex(gitDir: string, fresh: string): Promise<void> {
  const index = path.join(gitDir, 'index');
  if ((await lstatOrNull(index)) !== null) {
    await deleteTree(`${index}.unreadable`);
    await rename(index, `${index}.unreadable`);
  }
  await rename(fresh, index);
}
