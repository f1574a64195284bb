import type { Stats } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deleteTree } from '../delete-tree.ts';
import { hasCode, lstatOrNull, reasonOf } from '../file-system.ts';
import { findOddRules } from '../git/shadow/refuse-odd-rules.ts';
import { runHookAnyway } from '../hooks.ts';
import type { Kept, Removal, RemovalVisit, WhyKept, WorkspacePlace } from '../workspace.ts';
import { creationMarker, type RemovalStep, removalName, removalNote } from '../workspace-markers.ts';
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
    const away = await restoreVanished(place.path, parts);
    if (away !== null) return kept(away);
    const found = await lstatOrNull(place.path);
    if (found === null) {
      await rm(creationMarker(place.path), { force: true });
      return leftover;
    }
    const objection = await whyNotADirectoryOfOurs(place.path, found);
    if (objection !== null) return kept(objection);
    const isHalfMade = (await lstatOrNull(creationMarker(place.path))) !== null;
    // No agent has worked in a half-made workspace, unless it was being filled again from the commits of an earlier one.
    const hasWork = !isHalfMade || (await parts.checkouts.find(place.path)) !== null;
    // Before the hook: without a free name there is no removal.
    const doomed = await freeName(place.path, hasWork ? 'removing' : 'deleting');
    const { beforeRemove } = parts.hooks;
    if (beforeRemove !== null && !isHalfMade)
      await runHookAnyway('before_remove', beforeRemove, { path: place.path, visit }, parts);
    const odd = hasWork ? await findOddRules(place.path) : null;
    if (odd !== null)
      return kept({ code: 'odd_git_file', reason: `${odd} is not a regular file, and git would wait for it` });
    // A branch in the repository is easier to find than a reference of saved work.
    if (hasWork) await parts.publish(place.path, visit);
    if (visit.signal?.aborted) return kept(givenUp);
    return merged(leftover, await renameAndRemove({ place: place.path, doomed, before: found, hasWork }, visit, parts));
  } catch (error) {
    return kept(failure(error));
  }
}

/**
 * A workspace that another program deleted may have left commits in its git directory: Baton fills it again from them,
 * and then removes it like every other. It drops a git directory without work. Returns the reason when it must do
 * neither, because the workspace may be on a disk that is not mounted.
 */
async function restoreVanished(place: string, { checkouts, resources }: WorkspaceParts): Promise<WhyKept | null> {
  const checkout = await checkouts.find(place);
  if (checkout === null || (await lstatOrNull(place)) !== null) return null;
  const away = await whyRootIsAway(resources.places, place);
  if (away !== null) return { code: 'root_away', reason: away };
  await writeFile(creationMarker(place), '');
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
  readonly before: Stats;
  readonly hasWork: boolean;
}

async function renameAndRemove(doom: Doom, visit: RemovalVisit, parts: WorkspaceParts): Promise<Removal> {
  const { place, doomed, before, hasWork } = doom;
  if (hasWork) await writeNote(doomed, visit);
  try {
    await rename(place, doomed);
  } catch (error) {
    await rm(removalNote(doomed), { force: true });
    return hasCode(error, 'ENOENT') ? { outcome: 'absent' } : kept(failure(error));
  }
  // From here on no run finds the directory. Until now the hook or another program may have replaced it.
  const renamed = await lstatOrNull(doomed);
  const isSame = renamed?.isDirectory() === true && renamed.ino === before.ino && renamed.dev === before.dev;
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
  await rm(creationMarker(place), { force: true });
  return removal;
}

/** Tries to undo the rename. Returns the end of a sentence with the new path, or nothing when the directory is back. */
async function putBack(doomed: string, place: string): Promise<string> {
  try {
    // A rename would silently replace an empty directory that was made there meanwhile.
    if ((await lstatOrNull(place)) === null) {
      await rename(doomed, place);
      await rm(removalNote(doomed), { force: true });
      return '';
    }
  } catch {
    // The return value says where the directory is.
  }
  return `; the directory is now ${doomed}`;
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
    const found = await Promise.all(names.map((name) => lstatOrNull(path.join(folder, name))));
    if (found.every((each) => each === null)) return path.join(folder, removalName(step, path.basename(place), count));
  }
}

function kept(why: WhyKept): Kept {
  return { outcome: 'kept', ...why };
}

function failure(error: unknown): WhyKept {
  return { code: 'failed', reason: reasonOf(error) };
}
