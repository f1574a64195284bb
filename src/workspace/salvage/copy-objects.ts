import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { Git } from '../git/git.ts';
import { cachedCommits, inTarget, missingIn } from './history.ts';
import type { ObjectStore } from './repository.ts';
import { unsaved } from './salvage-errors.ts';
import type { Target } from './target.ts';
import { flush, moveDurably } from './write-durably.ts';

/** The work is too large for the person's repository; one of Baton's own can take it. */
export class TooLargeForLocal extends Error {
  readonly bytes: number;
  constructor(bytes: number) {
    super(`${bytes} bytes are too many for the repository of a person`);
    this.bytes = bytes;
  }
}

export interface CopyObjectsRequest {
  /** The commit that holds everything. */
  readonly commit: string;
  /** The agent's commits that it is based on. */
  readonly standsOn: readonly string[];
  readonly target: Target;
  readonly store: ObjectStore;
  readonly scratch: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Copies a commit, with every object that the target lacks, into the target as one pack. Resolves when all of it is on
 * the disk and independent of other repositories: each new object was read back and matches its id, and every object
 * that it names exists.
 */
export async function copyObjects(git: Git, request: CopyObjectsRequest): Promise<void> {
  const { commit, target, store, scratch, signal } = request;
  const known = target.isOurs ? await cachedCommits(git, target) : [];
  const missing = await missingIn(git, { ...request, starts: request.standsOn, known, salvageCounts: true });
  const there = [...new Set([...missing.boundary, ...request.standsOn.filter((id) => !missing.commits.has(id))])];
  const wanted = [commit, ...there.map((id) => `^${id}`), ''].join('\n');

  const folder = path.join(scratch, 'pack');
  await mkdir(folder, { recursive: true });
  const name = await git.run({
    ...inTarget(target, store, signal),
    // Git writes temporary files next to the pack, which may be on another disk than the target.
    objects: store.objects,
    // It has to last only where it is moved to.
    settings: ['core.fsync=none', 'pack.writeReverseIndex=false'],
    args: ['pack-objects', '--revs', '--quiet', '--window=0', '--delta-base-offset', path.join(folder, 'pack')],
    stdin: wanted,
  });
  const pack = path.join(folder, `pack-${name.trim()}.pack`);
  const { size } = await stat(pack);
  if (size > target.mostBytes) throw new TooLargeForLocal(size);
  await placePack(git, request, pack, name.trim());

  const found = await git.ask({
    gitDir: target.gitDir,
    args: ['rev-list', '--objects', '--quiet', '--stdin'],
    stdin: wanted,
    signal,
  });
  if (found.code !== 0) throw unsaved('saved_incompletely', 'the saved copy is incomplete');
}

/**
 * Puts a pack into the target. Until its index is there git does not use it, and under its first name git removes it as
 * garbage if Baton never comes back. The index is made from the bytes in the target: an object whose content does not
 * match its name gets none. Git itself writes nothing there, so it leaves nothing behind when it fails.
 */
async function placePack(git: Git, request: CopyObjectsRequest, file: string, name: string): Promise<void> {
  const { target, scratch, signal } = request;
  const packs = path.join(target.gitDir, 'objects', 'pack');
  await mkdir(packs, { recursive: true });
  const objects = path.join(scratch, 'index');
  await mkdir(path.join(objects, 'pack'), { recursive: true });
  const made = path.join(objects, `${name}.idx`);
  const half = path.join(packs, `tmp_pack_baton_${name}`);
  const index = path.join(packs, `tmp_idx_baton_${name}`);
  const check = async (strict: readonly string[]): Promise<void> => {
    await git.run({
      gitDir: target.gitDir,
      objects,
      borrowed: [path.join(target.gitDir, 'objects')],
      settings: ['core.fsync=none', 'pack.writeReverseIndex=false'],
      args: ['index-pack', ...strict, '-o', made, half],
      signal,
    });
  };
  try {
    await moveDurably(file, half);
    await check(['--strict']).catch(async (error: unknown) => {
      if (!(error instanceof BatonError) || error.code !== 'git_failed') throw error;
      // Old or odd histories have objects that git complains about; they are work all the same.
      await rm(made, { force: true });
      await check([]);
    });
    await moveDurably(made, index);
    await chmod(half, 0o444);
    await chmod(index, 0o444);
    await rename(half, path.join(packs, `pack-${name}.pack`));
    await rename(index, path.join(packs, `pack-${name}.idx`));
    await flush(packs);
  } catch (error) {
    await rm(half, { force: true });
    await rm(index, { force: true });
    throw error;
  }
}
