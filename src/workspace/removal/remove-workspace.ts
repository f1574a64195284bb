import type { Stats } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deleteTree } from '../delete-tree.ts';
import { hasCode, lookAt, reasonOf } from '../file-system.ts';
import { findOddRules } from '../git/shadow/refuse-odd-rules.ts';
import { runHookAnyway } from '../hooks.ts';
import type { Kept, Removal, RemovalVisit, WhyKept, WorkspacePlace } from '../workspace.ts';
import { creationMark, type RemovalStep, removalName, removalNote } from '../workspace-marks.ts';
import type { WorkspaceParts } from '../workspace-parts.ts';
import { whyRootIsAway } from '../workspace-root.ts';
import { deleteDoomed, givenUp, saveAndDelete, writeNote } from './doomed-workspace.ts';
import { finishLeftovers } from './finish-removals.ts';
import { whyNotADirectoryOfOurs, whyNotRemovable } from './why-not-removable.ts';

/**
 * Removes a workspace in this order: check, hook, branch, rename, save, rename, delete. From the first rename on the
 * directory has a name that no run works under; from the second on its work is known to be saved. So a crash anywhere
 * leaves nothing that looks like a workspace but is not one, and the name tells the next daemon which steps are left. A
 * workspace without work gets its last name at once. Until the deletion begins everything can be put back.
 */
export async function removeWorkspace(
  place: WorkspacePlace,
  visit: RemovalVisit,
  parts: WorkspaceParts,
): Promise<Removal> {
  const refusal = whyNotRemovable(place, { root: parts.settings.root, home: parts.daemonEnv.HOME });
  if (refusal !== null) return kept(refusal);
  const key = path.basename(place.path);
  try {
    const leftover = await finishLeftovers(path.dirname(place.path), key, parts, visit);
    const away = await bringBackVanished(place.path, parts);
    if (away !== null) return kept(away);
    const found = await lookAt(place.path);
    if (found === null) {
      await rm(creationMark(place.path), { force: true });
      return leftover;
    }
    const objection = await whyNotADirectoryOfOurs(place.path, found);
    if (objection !== null) return kept(objection);
    const isHalfMade = (await lookAt(creationMark(place.path))) !== null;
    // A half-made one was never worked in, unless it was being filled again from an earlier one's commits.
    const hasWork = !isHalfMade || (await parts.checkouts.find(place.path)) !== null;
    // Found before the hook runs: without a free name there is no removal to run it for.
    const doomed = await freeName(place.path, hasWork ? 'removing' : 'deleting');
    const { beforeRemove } = parts.hooks;
    if (beforeRemove !== null && !isHalfMade)
      await runHookAnyway('before_remove', beforeRemove, { path: place.path, visit }, parts);
    const odd = hasWork ? await findOddRules(place.path) : null;
    if (odd !== null) return kept({ code: 'odd_git_file', reason: `${odd} is no file, and git would wait for it` });
    // A branch with all its commits in the repository is better than a reference that somebody has to look for.
    if (hasWork) await parts.publish(place.path, visit);
    if (visit.signal?.aborted) return kept(givenUp);
    return merged(leftover, await renameAndRemove({ place: place.path, doomed, looked: found, hasWork }, visit, parts));
  } catch (error) {
    return kept(failure(error));
  }
}

/**
 * A workspace that somebody else deleted may have left commits in its git directory: it is filled again from them, and
 * then removed like every other. A git directory without work is forgotten. Returns why neither is allowed, when the
 * workspace may only be out of sight.
 */
async function bringBackVanished(place: string, { checkouts, ground }: WorkspaceParts): Promise<WhyKept | null> {
  const checkout = await checkouts.find(place);
  if (checkout === null || (await lookAt(place)) !== null) return null;
  const away = await whyRootIsAway(ground.places, place);
  if (away !== null) return { code: 'root_away', reason: away };
  await writeFile(creationMark(place), '');
  await mkdir(place);
  let isBack = false;
  try {
    isBack = await checkouts.revive({ workspace: place, branch: checkout.branch });
  } finally {
    if (!isBack) await deleteTree(place);
  }
  if (!isBack) await checkouts.forget(place);
  return null;
}

interface Doom {
  readonly place: string;
  readonly doomed: string;
  readonly looked: Stats;
  readonly hasWork: boolean;
}

async function renameAndRemove(doom: Doom, visit: RemovalVisit, parts: WorkspaceParts): Promise<Removal> {
  const { place, doomed, looked, hasWork } = doom;
  if (hasWork) await writeNote(doomed, visit);
  try {
    await rename(place, doomed);
  } catch (error) {
    await rm(removalNote(doomed), { force: true });
    return hasCode(error, 'ENOENT') ? { outcome: 'absent' } : kept(failure(error));
  }
  // From here on no run finds it under its name; earlier steps, the hook included, may have changed it.
  const renamed = await lookAt(doomed);
  const isSame = renamed?.isDirectory() === true && renamed.ino === looked.ino && renamed.dev === looked.dev;
  if (!isSame) {
    const reason = `it was replaced while it was being removed${await putBack(doomed, place)}`;
    return kept({ code: 'replaced', reason });
  }
  const removal = hasWork
    ? await saveAndDelete({ doomed, place, visit }, parts)
    : await deleteDoomed(doomed, { place, saved: [] }, parts);
  if (removal.outcome === 'unsaved') {
    const { code, reason } = removal;
    return kept({ code, reason: `${reason}${await putBack(doomed, place)}` });
  }
  if (removal.outcome !== 'removed') return removal;
  await rm(creationMark(place), { force: true });
  return removal;
}

/** Where it is now, as the end of a sentence: nothing when it is where it was. */
async function putBack(doomed: string, place: string): Promise<string> {
  try {
    // An empty directory made there meanwhile would be replaced without a word.
    if ((await lookAt(place)) === null) {
      await rename(doomed, place);
      await rm(removalNote(doomed), { force: true });
      return '';
    }
  } catch {
    // The return value says where the directory is; that is what counts.
  }
  return `; it is now ${doomed}`;
}

/** Two removals as one: the saved work of both counts. */
function merged(leftover: Removal, removal: Removal): Removal {
  if (leftover.outcome !== 'removed' || removal.outcome === 'kept') return removal;
  const saved = removal.outcome === 'removed' ? removal.saved : [];
  return { outcome: 'removed', saved: [...leftover.saved, ...saved] };
}

async function freeName(place: string, step: RemovalStep): Promise<string> {
  const folder = path.dirname(place);
  for (let count = 1; ; count += 1) {
    const names = (['removing', 'deleting'] as const).map((step) => removalName(step, path.basename(place), count));
    const found = await Promise.all(names.map((name) => lookAt(path.join(folder, name))));
    if (found.every((each) => each === null)) return path.join(folder, removalName(step, path.basename(place), count));
  }
}

function kept(why: WhyKept): Kept {
  return { outcome: 'kept', ...why };
}

function failure(error: unknown): WhyKept {
  return { code: 'failed', reason: reasonOf(error) };
}
