import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../../../core/logger.ts';
import type { RepositorySettings } from '../../../core/settings.ts';
import { deleteTree } from '../../delete-tree.ts';
import type { FreshSource } from '../cache/cache.ts';
import { type Git, quietFetch } from '../git.ts';
import { setShadow } from '../shadow/shadow-git.ts';
import { writeAgentGitDirectory } from './agent-git-directory.ts';
import type { CheckoutPlace } from './checkout.ts';
import { type CheckoutFolders, type CheckoutRecord, cloneMark, writeRecord } from './checkout-record.ts';
import { type CopyRequest, copyFiles, excludesOf } from './copy-files.ts';

export interface CheckoutWork {
  readonly git: Git;
  readonly logger: Logger;
  readonly repo: RepositorySettings;
  readonly strategy: 'worktree' | 'clone';
  readonly folders: CheckoutFolders;
  readonly place: CheckoutPlace;
  /** The files that `workspace.copy` copies. */
  readonly copy: Pick<CopyRequest, 'patterns' | 'from' | 'never'>;
}

/** Fills a workspace from the cache. Removes the leftovers of a crashed attempt first, and writes the record last. */
export async function makeCheckout(source: FreshSource, work: CheckoutWork): Promise<CheckoutRecord> {
  const { git, repo, strategy, folders, place } = work;
  const { workspace, branch, signal } = place;
  const { objectFormat, base, baseCommit, branchCommit } = source;
  await deleteTree(folders.folder);
  await mkdir(folders.folder, { recursive: true, mode: 0o700 });
  const gitDir = strategy === 'worktree' ? folders.git : path.join(workspace, '.git');
  const borrowed = strategy === 'worktree' ? [path.join(source.cache, 'objects')] : [];
  const start = await startOf(source, work);
  await writeAgentGitDirectory({ folder: gitDir, branch, start, source, shown: repo.shown, borrowed });
  if (strategy === 'clone') await copyObjects(gitDir, source, work);
  await git.run({
    args: ['read-tree', '--reset', '-u', start],
    gitDir,
    workTree: workspace,
    signal,
  });
  if (strategy === 'worktree') await writeFile(path.join(workspace, '.git'), `gitdir: ${gitDir}\n`);
  else await writeFile(path.join(gitDir, cloneMark), `${folders.folder}\n`);
  await setShadow({ folder: folders.shadow, head: start, objectFormat, index: path.join(gitDir, 'index') });
  const checkout: CheckoutRecord = {
    workspace,
    strategy,
    repository: repo.shown,
    branch,
    base,
    baseCommit,
    start,
    found: branchCommit,
    published: repo.isLocal ? branchCommit : null,
    objectFormat,
    gitDir,
    shadow: folders.shadow,
    borrowed,
    excludes: [],
  };
  const excludes = await addCopiedFiles(checkout, work);
  if (excludes.length > 0) await writeFile(path.join(gitDir, 'info', 'exclude'), `${excludes.join('\n')}\n`);
  signal?.throwIfAborted();
  const made = { ...checkout, excludes };
  await writeRecord(folders.record, made);
  if (start !== baseCommit) await logEarlierWork(source, start, work);
  return made;
}

/** Logs that the issue does not start at the base. */
async function logEarlierWork(
  { cache, base, baseCommit }: FreshSource,
  start: string,
  { git, logger, place }: CheckoutWork,
): Promise<void> {
  const { workspace, branch } = place;
  const call = { args: ['rev-list', '--count', `${baseCommit}..${start}`], gitDir: cache };
  // Only for the log: a failure here must not undo the checkout.
  const ahead = await git.run(call).then(Number, () => null);
  const named = { workspace, branch, commit: start, base, ahead };
  logger.info('branch_reused', named);
}

/**
 * Copies the files of `workspace.copy`; returns the patterns that exclude them from the work, and adds them to the
 * shadow.
 */
export async function addCopiedFiles(checkout: CheckoutRecord, work: CheckoutWork): Promise<readonly string[]> {
  const { git, logger, copy, place } = work;
  const { workspace, shadow, objectFormat, start, borrowed, gitDir } = checkout;
  const copied = await copyFiles({ ...copy, to: workspace, logger, ...(place.signal && { signal: place.signal }) });
  const objects = borrowed.length > 0 ? borrowed : [path.join(gitDir, 'objects')];
  const excludes = await excludesOf(copied, { git, shadow, workspace, objects });
  if (excludes.length > 0) await setShadow({ folder: shadow, head: start, objectFormat, excludes });
  return excludes;
}

/** The start commit. A branch of this name with work that is not in the base is continued. */
async function startOf({ cache, baseCommit, branchCommit }: FreshSource, { git }: CheckoutWork): Promise<string> {
  if (branchCommit === null || branchCommit === baseCommit) return baseCommit;
  const call = { args: ['merge-base', '--is-ancestor', branchCommit, baseCommit], gitDir: cache };
  const { code } = await git.ask(call);
  if (code === 0) return baseCommit;
  if (code === 1) return branchCommit;
  await git.run(call);
  return branchCommit;
}

/** Copies every object that a `clone` needs: it borrows none. */
async function copyObjects(gitDir: string, source: FreshSource, { git, place }: CheckoutWork): Promise<void> {
  const { cache, baseCommit, branchCommit } = source;
  const commits = [...new Set([baseCommit, ...(branchCommit === null ? [] : [branchCommit])])];
  await git.run({
    // The branches are already written, but git does not conclude from them that their objects exist.
    args: [...quietFetch, '--', cache, ...commits],
    gitDir,
    settings: ['fetch.unpackLimit=1'],
    signal: place.signal,
  });
}
