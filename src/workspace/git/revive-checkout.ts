import { copyFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { deleteTree } from '../delete-tree.ts';
import { writeBareRepository } from './bare-repository.ts';
import { type CheckoutRecord, writeRecord } from './checkout-record.ts';
import type { GitDirectory } from './git-directory.ts';
import { plainConfig, setLens } from './lens.ts';
import { bringCopies, type CheckoutWork } from './make-checkout.ts';
import { readGitDirectory } from './read-git-directory.ts';
import { strangeFolder } from './strange-folder.ts';
import { unlockGitDirectory } from './unlock.ts';

/**
 * Fills a workspace that somebody deleted from the git directory that outlived it: the agent's commits, branches and
 * stashes are all still there, and HEAD is where it was. Null when nothing had been done there yet, so that it is better made
 * anew from today's base. Rejects with `git_failed` or `workspace_unavailable` when it cannot be read.
 */
export async function reviveCheckout(earlier: CheckoutRecord, work: CheckoutWork): Promise<CheckoutRecord | null> {
  const { git, folders, place } = work;
  const { workspace, signal } = place;
  await unlockGitDirectory(folders.git);
  const agents = await readGitDirectory(folders.git);
  if (agents === null || agents.head === null || agents.objectFormat !== earlier.objectFormat)
    throw new BatonError('git_failed', `The git directory ${folders.git} is damaged.`);
  const strange = strangeFolder(agents, earlier);
  if (strange !== null) throw new BatonError('git_failed', `The git directory ${folders.git} uses ${strange}.`);
  if (isUntouched(agents, earlier)) return null;
  const { head, objectFormat, objects } = agents;
  // A git directory of our own for the checkout: whatever the agent configured in its own is not obeyed.
  const ours = path.join(folders.folder, 'reviving');
  await deleteTree(ours);
  await writeBareRepository({ folder: ours, objectFormat });
  await writeFile(path.join(ours, 'config'), plainConfig(objectFormat));
  await git.run({
    args: ['read-tree', '--reset', '-u', head],
    gitDir: ours,
    workTree: workspace,
    borrowed: objects,
    ...(signal === undefined ? {} : { signal }),
  });
  const index = path.join(ours, 'index');
  await deleteTree(folders.lens);
  await setLens({ folder: folders.lens, head, objectFormat, index });
  // Renamed into its place: the agent may have put a link there, and a link is replaced, not followed.
  await copyFile(index, path.join(ours, 'index.copy'));
  await rename(path.join(ours, 'index.copy'), path.join(folders.git, 'index'));
  await writeFile(path.join(workspace, '.git'), `gitdir: ${folders.git}\n`);
  const excludes = await bringCopies({ ...earlier, start: head, borrowed: objects }, work);
  const revived = { ...earlier, lens: folders.lens, gitDir: folders.git, excludes };
  await writeRecord(folders.record, revived);
  await deleteTree(ours);
  return revived;
}

function isUntouched({ head, tips }: GitDirectory, { start, baseCommit, found }: CheckoutRecord): boolean {
  return head === start && tips.every(({ id }) => [start, baseCommit, found].includes(id));
}
