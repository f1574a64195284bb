import type { Stats } from 'node:fs';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { canonicalPath } from './canonical-path.ts';
import { deleteTree } from './delete-tree.ts';
import { hasCode, reasonOf } from './error-reason.ts';
import { runHookAnyway } from './hooks.ts';
import type { WorkspaceParts } from './local-workspaces.ts';
import { lookAt } from './look-at.ts';
import { whyKeep } from './why-keep.ts';
import { whyNotRemovable } from './why-not-removable.ts';
import type { Removal, RemovalVisit, WorkspacePlace } from './workspace.ts';
import { creationMark, keyBeingRemoved, removalName } from './workspace-marks.ts';

/**
 * Removes a workspace in this order: look, hook, rename, look again, delete. From the rename on the directory has a name
 * that nobody works under, so that a crash in the middle of the deletion leaves nothing that looks like a workspace, and
 * the name tells the next daemon to finish it. Until the deletion begins everything can be put back.
 */
export async function removeWorkspace(
  place: WorkspacePlace,
  visit: RemovalVisit,
  parts: WorkspaceParts,
): Promise<Removal> {
  const refusal = whyNotRemovable(place, { root: parts.root, home: parts.daemonEnv.HOME });
  if (refusal !== null) return kept(refusal);
  const key = path.basename(place.path);
  try {
    const leftover = await finishLeftovers(path.dirname(place.path), (each) => each === key, parts);
    const found = await lookAt(place.path);
    if (found === null) {
      await rm(creationMark(place.path), { force: true });
      return leftover;
    }
    const reason = (await whyNotADirectoryOfOurs(place.path, found)) ?? (await whyKeep(place.path));
    if (reason !== null) return kept(reason);
    // Found before the hook runs: without a name to go by there is no removal to run it for.
    const doomed = await freeName(place.path);
    const { beforeRemove } = parts.hooks;
    if (beforeRemove !== null) {
      await runHookAnyway('before_remove', beforeRemove, { path: place.path, visit }, parts);
    }
    if (visit.signal?.aborted) return kept('its removal was given up');
    return await renameAndDelete(place.path, doomed, found);
  } catch (error) {
    return kept(reasonOf(error));
  }
}

/** Finishes what an earlier daemon began below this root: directories that were renamed and not yet deleted. */
export async function finishRemovals(root: string, parts: WorkspaceParts): Promise<void> {
  try {
    await finishLeftovers(canonicalPath(root), () => true, parts);
  } catch (error) {
    parts.logger.warn('Removals that were begun could not be looked for.', { root, error });
  }
}

async function renameAndDelete(place: string, doomed: string, looked: Stats): Promise<Removal> {
  try {
    await rename(place, doomed);
  } catch (error) {
    return hasCode(error, 'ENOENT') ? { outcome: 'absent' } : kept(reasonOf(error));
  }
  // From here on nobody finds it under its name; what came before, the hook included, may have changed it.
  const renamed = await lookAt(doomed);
  const isSame = renamed?.isDirectory() === true && renamed.ino === looked.ino && renamed.dev === looked.dev;
  const reason = isSame ? await whyKeep(doomed) : 'it was replaced while it was being removed';
  if (reason !== null) return kept(`${reason}${await putBack(doomed, place)}`);
  await rm(creationMark(place), { force: true });
  return deleteDoomed(doomed);
}

/** Where it is now, as the end of a sentence: nothing when it is where it was. */
async function putBack(doomed: string, place: string): Promise<string> {
  try {
    // An empty directory made there meanwhile would be replaced without a word.
    if ((await lookAt(place)) === null) {
      await rename(doomed, place);
      return '';
    }
  } catch {
    // Told below: what counts is where it is.
  }
  return `; it is now ${doomed}`;
}

/** What earlier removals left below a root: `absent` when there is nothing, `kept` when something stays. */
async function finishLeftovers(
  root: string,
  isWanted: (key: string) => boolean,
  { logger }: WorkspaceParts,
): Promise<Removal> {
  let all: Removal = { outcome: 'absent' };
  for (const name of await namesIn(root)) {
    const key = keyBeingRemoved(name);
    if (key === null || !isWanted(key)) continue;
    const doomed = path.join(root, name);
    const one = await finish(doomed);
    if (one.outcome === 'kept') {
      logger.warn('A removal that was begun could not be finished.', { path: doomed, reason: one.reason });
    } else logger.info('A removal that was begun is finished.', { path: doomed });
    if (all.outcome !== 'kept') all = one;
  }
  return all;
}

/** Looked through again: the crash may have come before the second look, and anybody can make such a name. */
async function finish(doomed: string): Promise<Removal> {
  try {
    const found = await lookAt(doomed);
    if (found === null) return { outcome: 'absent' };
    const reason = (await whyNotADirectoryOfOurs(doomed, found)) ?? (await whyKeep(doomed));
    return reason === null ? await deleteDoomed(doomed) : kept(`${reason}; it is ${doomed}`);
  } catch (error) {
    return kept(reasonOf(error));
  }
}

async function deleteDoomed(doomed: string): Promise<Removal> {
  try {
    await deleteTree(doomed);
    return { outcome: 'removed' };
  } catch (error) {
    return kept(`it could not be removed completely, the rest is ${doomed}: ${reasonOf(error)}`);
  }
}

async function whyNotADirectoryOfOurs(file: string, found: Stats): Promise<string | null> {
  if (found.isSymbolicLink()) return `${file} is a symbolic link`;
  if (!found.isDirectory()) return `${file} is no directory`;
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) return `${file} belongs to another user`;
  const parent = await lstat(path.dirname(file));
  return parent.dev === found.dev ? null : `${file} is a file system of its own`;
}

async function freeName(place: string): Promise<string> {
  for (let count = 1; ; count += 1) {
    const name = path.join(path.dirname(place), removalName(path.basename(place), count));
    if ((await lookAt(name)) === null) return name;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

function kept(reason: string): Removal {
  return { outcome: 'kept', reason };
}
