import path from 'node:path';
import { canonicalPath } from '../canonical-path.ts';
import { lstatOrNull, namesIn, reasonOf } from '../file-system.ts';
import type { Removal, RemovalVisit, WhyKept } from '../workspace.ts';
import { readRemovalName } from '../workspace-markers.ts';
import type { WorkspaceParts } from '../workspace-parts.ts';
import { deleteDoomed, dropLoneNotes, readNote, readNoteName, saveAndDelete } from './doomed-workspace.ts';
import { whyNotADirectoryOfOurs } from './why-not-removable.ts';

/** Finishes the removals that a previous daemon began below this root: directories renamed but not yet deleted. */
export async function finishRemovals(root: string, parts: WorkspaceParts): Promise<void> {
  try {
    const real = canonicalPath(root);
    const keys = new Set((await namesIn(real)).map((name) => (readRemovalName(name) ?? readNoteName(name))?.key));
    for (const key of keys) {
      if (key === undefined) continue;
      const finishOne = (): Promise<Removal> => finishLeftovers(real, key, parts);
      await parts.resources.oneAtATime(path.join(real, key), finishOne);
    }
  } catch (error) {
    parts.logger.warn('unfinished_removals_unreadable', { root, error });
  }
}

/**
 * Finishes earlier removals of one workspace below a root: `absent` when there are none, `kept` when one could not be
 * finished. `visit` names the issue and run; without it, the note of the leftover does.
 */
export async function finishLeftovers(
  root: string,
  key: string,
  parts: WorkspaceParts,
  visit?: RemovalVisit,
): Promise<Removal> {
  let all: Removal = { outcome: 'absent' };
  const names = await namesIn(root);
  for (const name of names) {
    const removal = readRemovalName(name);
    if (removal?.key !== key) continue;
    const doomed = path.join(root, name);
    const one = await finish({ doomed, root, ...removal }, parts, visit);
    if (one.outcome === 'kept') {
      const { code, reason } = one;
      parts.logger.warn('unfinished_removal_failed', { path: doomed, code, reason });
    } else parts.logger.info('unfinished_removal_done', { path: doomed, ...savedIn(one) });
    all = together(all, one);
  }
  await dropLoneNotes(root, key, names);
  return all;
}

interface Leftover {
  readonly doomed: string;
  readonly root: string;
  readonly key: string;
  readonly step: 'removing' | 'deleting';
}

async function finish(
  { doomed, root, key, step }: Leftover,
  parts: WorkspaceParts,
  visit?: RemovalVisit,
): Promise<Removal> {
  try {
    const found = await lstatOrNull(doomed);
    if (found === null) return { outcome: 'absent' };
    const objection = await whyNotADirectoryOfOurs(doomed, found);
    if (objection !== null) return keptAt(doomed, objection);
    const place = path.join(root, key);
    if (step === 'deleting') return await deleteDoomed(doomed, { place, saved: [] }, parts);
    const forWhom = visit ?? (await readNote(doomed, key));
    const removal = await saveAndDelete({ doomed, place, visit: forWhom }, parts);
    return removal.outcome === 'unsaved' ? keptAt(doomed, removal) : removal;
  } catch (error) {
    return { outcome: 'kept', code: 'failed', reason: reasonOf(error) };
  }
}

function keptAt(doomed: string, { code, reason }: WhyKept): Removal {
  return { outcome: 'kept', code, reason: `${reason}; the directory is ${doomed}` };
}

function together(one: Removal, other: Removal): Removal {
  if (one.outcome === 'kept' || other.outcome === 'absent') return one;
  if (other.outcome === 'kept' || one.outcome === 'absent') return other;
  return { outcome: 'removed', saved: [...one.saved, ...other.saved] };
}

function savedIn(removal: Removal): Record<string, unknown> {
  return removal.outcome === 'removed' && removal.saved.length > 0 ? { saved: removal.saved } : {};
}
