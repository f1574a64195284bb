import { realpathSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { Logger } from '../../../core/logger.ts';
import type { RepositorySettings, WorkspaceSettings } from '../../../core/settings.ts';
import { deleteTree } from '../../delete-tree.ts';
import { lstatOrNull, reasonOf } from '../../file-system.ts';
import { createOneAtATime } from '../../one-at-a-time.ts';
import { type Cache, type CacheParts, createCache } from '../cache/cache.ts';
import type { Git } from '../git.ts';
import { folderName, type GitPlaces } from '../git-places.ts';
import { soundsDamaged } from '../source/source-errors.ts';
import type { CheckoutPlace, Checkouts } from './checkout.ts';
import {
  type CheckoutFolders,
  type CheckoutRecord,
  checkoutFolders,
  readRecord,
  writeRecord,
} from './checkout-record.ts';
import { type CheckoutWork, makeCheckout } from './make-checkout.ts';
import { beginToCopy, type CopiedCommits, publishBranch } from './publish-branch.ts';
import { reviveCheckout } from './revive-checkout.ts';
import { unlockGitDirectory } from './unlock.ts';

export interface CheckoutsParts {
  readonly git: Git;
  readonly places: GitPlaces;
  readonly settings: Pick<WorkspaceSettings, 'repo' | 'strategy' | 'base' | 'copy' | 'copyFrom'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The file that governs the agents; absent: the one of the usual name. */
  readonly workflowPath?: string;
  /** Another file with a prompt for them, absolute. */
  readonly promptFile?: string | null | undefined;
  readonly fetchBase?: CacheParts['fetchBase'];
}

/** By the path of a cache or a source, for the whole process: new settings make new checkouts on existing caches. */
export const oneAtATime = createOneAtATime();

export function createCheckouts(parts: CheckoutsParts): Checkouts {
  const { places, git } = parts;
  const promptNames = parts.promptFile == null ? [] : namesOf(parts.promptFile);
  const workflowNames = [...namesOf(parts.workflowPath ?? 'WORKFLOW.md'), ...promptNames];
  const publishing = { git, scratch: places.scratch, workflowNames };
  /** By workspace: commits that are being copied for its next publication. */
  const begun = new Map<string, Promise<CopiedCommits | null>>();
  const cache = cacheOf(parts);
  const foldersFor = (workspace: string): CheckoutFolders => checkoutFolders(places, workspace);
  const find = async (workspace: string): Promise<CheckoutRecord | null> => {
    const file = foldersFor(workspace).record;
    const record = await readRecord(file);
    if (record === 'damaged') throw unreadableRecord(file);
    return record === 'missing' || record.workspace !== workspace ? null : record;
  };
  return {
    find,
    make: async (place) => {
      const work = workFor(place, foldersFor(place.workspace), parts);
      return (await reviveOrPutAside(work, parts)) ?? (await makeFromCache(work, cache));
    },
    revive: async (place) =>
      (await reviveOrPutAside(workFor(place, foldersFor(place.workspace), parts), parts)) !== null,
    unlock: async (workspace) => {
      const checkout = await find(workspace);
      return checkout === null ? [] : await unlockGitDirectory(checkout.gitDir);
    },
    beginToPublish: (workspace, directory) => {
      const begin = async (): Promise<CopiedCommits | null> => {
        const checkout = await find(workspace);
        return checkout === null ? null : await beginToCopy(checkout, directory, publishing);
      };
      begun.set(
        workspace,
        begin().catch(() => null),
      );
    },
    publish: async (workspace) => {
      const early = begun.get(workspace);
      begun.delete(workspace);
      const { repository } = (await find(workspace)) ?? { repository: '' };
      // Two workspaces with one branch must not both read its old position.
      return await oneAtATime(`publish ${repository}`, async () => {
        const checkout = await find(workspace);
        if (checkout === null) return null;
        const { publication, published, found } = await publishBranch(checkout, publishing, await early);
        if (published !== checkout.published) {
          await writeRecord(foldersFor(workspace).record, { ...checkout, published, found });
        }
        return publication;
      });
    },
    forget: async (workspace) => await forget(foldersFor(workspace).folder, places),
  };
}

function namesOf(file: string): readonly string[] {
  try {
    return [path.basename(file), path.basename(realpathSync(file))];
  } catch {
    return [path.basename(file)];
  }
}

/** A caller that removes or saves the workspace must not treat it as one without a checkout. */
function unreadableRecord(file: string): BatonError {
  return new BatonError('workspace_unavailable', `Failed to read ${file}, the record of the workspace.`, {
    nextStep:
      'The record is damaged, or a newer Baton wrote it. Repair it, or move its folder away if you do not need it.',
  });
}

/** Named by the address without its password: a new password needs no new cache and does not appear in a name. */
export function cacheFolder({ caches }: GitPlaces, { shown }: Pick<RepositorySettings, 'shown'>): string {
  return path.join(caches, `${folderName(shown, shown)}.git`);
}

function cacheOf({ git, places, settings, logger, clock, fetchBase }: CheckoutsParts): Cache | null {
  const { repo, base } = settings;
  if (repo === null) return null;
  const folder = cacheFolder(places, repo);
  return createCache({ git, clock, logger, oneAtATime, folder, repo, base, fetchBase });
}

function workFor(place: CheckoutPlace, folders: CheckoutFolders, parts: CheckoutsParts): CheckoutWork {
  const { git, logger, places } = parts;
  const { repo, strategy, copy, copyFrom } = parts.settings;
  if (repo === null || strategy === 'none') {
    throw new BatonError('repository_unavailable', 'workspace.repo names no repository to fill the workspace from.');
  }
  // Other workspaces and files of Baton may be below the source folder.
  const never = [path.dirname(place.workspace), path.dirname(path.dirname(places.caches))];
  return { git, logger, repo, strategy, folders, place, copy: { patterns: copy, from: copyFrom, never } };
}

/** Fills it from the cache; if a part of the cache cannot be read, once more from a new one. */
async function makeFromCache(work: CheckoutWork, cache: Cache | null): Promise<CheckoutRecord> {
  if (cache === null) throw new BatonError('repository_unavailable', 'workspace.repo names no repository.');
  const { branch, signal, workspace } = work.place;
  try {
    try {
      return await makeCheckout(await cache.refresh(branch, signal), work);
    } catch (error) {
      if (!(error instanceof BatonError) || !soundsDamaged(String(error.details.said ?? ''))) throw error;
      cache.distrust(error.message);
      await emptyFolder(workspace);
      return await makeCheckout(await cache.refresh(branch, signal), work);
    }
  } catch (error) {
    // Without its record the folder is unused; files that cannot be removed now are removed at the next attempt.
    await deleteTree(work.folders.folder).catch(() => {});
    throw error;
  }
}

async function emptyFolder(folder: string): Promise<void> {
  await deleteTree(folder);
  await mkdir(folder);
}

/**
 * A git directory with its record may hold an agent's work, even though its workspace is gone: Baton continues with it
 * or, where that is impossible, moves it out of the way and keeps it.
 */
async function reviveOrPutAside(work: CheckoutWork, { clock, logger }: CheckoutsParts): Promise<CheckoutRecord | null> {
  const { folders, place, repo } = work;
  const { workspace } = place;
  const earlier = await readRecord(folders.record);
  if (earlier === 'missing' || (await lstatOrNull(folders.git)) === null) return null;
  let reason = 'its record cannot be read';
  if (earlier !== 'damaged') {
    reason = `it came from ${earlier.repository}`;
    if (earlier.repository === repo.shown && earlier.workspace === workspace) {
      try {
        const revived = await reviveCheckout(earlier, work);
        if (revived !== null) logger.info('workspace_refilled', { workspace });
        return revived;
      } catch (error) {
        if (!(error instanceof BatonError) || !unreadable.includes(error.code)) throw error;
        reason = reasonOf(error);
        await emptyFolder(workspace);
      }
    }
  }
  const kept = `${folders.folder}+earlier-${clock.now()}`;
  await rename(folders.folder, kept);
  logger.warn('checkout_moved_aside', {
    workspace,
    kept,
    reason,
  });
  return null;
}

/** Codes which mean that a git directory is broken, and not the machine. */
const unreadable = ['git_failed', 'workspace_unavailable'];

/** Renamed first: a crash in the middle leaves nothing that looks like a checkout. */
async function forget(folder: string, { scratch }: GitPlaces): Promise<void> {
  if ((await lstatOrNull(folder)) === null) return;
  await mkdir(scratch, { recursive: true });
  const doomed = path.join(scratch, `forgotten-${path.basename(folder)}`);
  await deleteTree(doomed);
  await rename(folder, doomed);
  await deleteTree(doomed);
}
