import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import type { PruneAmount } from '../../../core/prune.ts';
import { deleteTree } from '../../delete-tree.ts';
import { namesIn } from '../../file-system.ts';
import { sizeOf } from '../../list-workspaces.ts';
import type { OneAtATime } from '../../one-at-a-time.ts';
import type { GitPlaces } from '../git-places.ts';

export interface CachePruning {
  readonly places: GitPlaces;
  readonly oneAtATime: OneAtATime;
  /** The folders of the caches that the settings name now. */
  readonly current: readonly string[];
  /** Only caches that nothing wrote to since. */
  readonly unusedBefore: number;
  readonly dryRun: boolean;
}

/**
 * Removes caches that the settings no longer name and from which nothing here borrows. What must hold: no checkout, no
 * other cache and no saved work loses an object; in doubt a cache stays. The home of a remote host is a repository with
 * work in it, not a cache.
 */
export async function pruneCaches(pruning: CachePruning): Promise<PruneAmount> {
  const { places, current, unusedBefore, dryRun, oneAtATime } = pruning;
  let [count, bytes]: [number, number | null] = [0, 0];
  for (const name of await namesIn(places.caches)) {
    if (!/\.git(?:\+\w+(?:-\d+)?)?$/.test(name) || /\.home\.git/.test(name)) continue;
    const folder = path.join(places.caches, name);
    if (current.includes(folder)) continue;
    await oneAtATime(folder, async () => {
      if ((await lastWrite(folder)) >= unusedBefore || (await isBorrowed(name, places))) return;
      const size = await sizeOf(folder);
      if (!dryRun) await remove(folder, places);
      count += 1;
      bytes = bytes === null || size === null ? null : bytes + size;
    });
  }
  return { count, bytes };
}

/** A fetch writes at least one of these. */
async function lastWrite(folder: string): Promise<number> {
  const parts = ['', 'FETCH_HEAD', 'refs', 'refs/baton', 'objects', 'objects/pack', 'packed-refs'];
  const found = await Promise.all(parts.map((part) => stat(path.join(folder, part)).catch(() => null)));
  return Math.max(...found.map((stats) => stats?.mtimeMs ?? 0));
}

/** Whether a git directory here names the cache as a place of its objects. Its name alone counts: paths may be quoted. */
async function isBorrowed(name: string, { caches, checkouts, salvage }: GitPlaces): Promise<boolean> {
  const own = path.dirname(salvage);
  const inCheckouts = (await namesIn(checkouts)).flatMap((each) => [
    path.join(checkouts, each, 'checkout.json'),
    ...['git', 'shadow', 'lens'].map((part) => alternates(path.join(checkouts, each, part))),
  ]);
  const inCaches = (await namesIn(caches))
    .filter((each) => each !== name)
    .map((each) => alternates(path.join(caches, each)));
  const saved = (await namesIn(own)).filter((each) => /^salvage.*\.git$/.test(each));
  const files = [...inCheckouts, ...inCaches, ...saved.map((each) => alternates(path.join(own, each)))];
  for (const file of files) if ((await readOrEmpty(file)).includes(name)) return true;
  return false;
}

function alternates(gitDir: string): string {
  return path.join(gitDir, 'objects', 'info', 'alternates');
}

/** Rejects for a file that exists and cannot be read: it may name the cache. */
async function readOrEmpty(file: string): Promise<string> {
  return await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw error;
  });
}

/** Renamed first: a crash in the middle leaves nothing that looks like a cache. */
async function remove(folder: string, { scratch }: GitPlaces): Promise<void> {
  await mkdir(scratch, { recursive: true });
  const doomed = path.join(scratch, `pruned-${path.basename(folder)}`);
  await deleteTree(doomed);
  await rename(folder, doomed);
  await deleteTree(doomed);
}
