import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deleteTree } from '../delete-tree.ts';
import { lstatOrNull, reasonOf } from '../file-system.ts';
import type { SavedWork } from '../salvage/salvage.ts';
import type { Removal, RemovalVisit, SavedName, WhyKept } from '../workspace.ts';
import { readRemovalName, removalName, removalNote } from '../workspace-markers.ts';
import type { WorkspaceParts } from '../workspace-parts.ts';

/** A directory that is being removed. */
export interface Doomed {
  /** Its current path. */
  readonly doomed: string;
  readonly place: string;
  readonly visit: RemovalVisit;
}

/** Nothing has been deleted. */
type Unsaved = { readonly outcome: 'unsaved' } & WhyKept;

export const givenUp: WhyKept = { code: 'given_up', reason: 'its removal was cancelled' };

/** Saves the work in a directory that has its name `removing`, and deletes it; deletes nothing that is not saved. */
export async function saveAndDelete(
  { doomed, place, visit }: Doomed,
  parts: WorkspaceParts,
): Promise<Removal | Unsaved> {
  let works: readonly SavedWork[];
  try {
    const { issue, runId, signal } = visit;
    const request = { folder: doomed, workspace: place, issue, runId, ...(signal === undefined ? {} : { signal }) };
    const result = await parts.salvage.save(request);
    works = result.outcome === 'saved' ? result.works : [];
    // The work stays saved, but a caller that cancelled does not wait for the deletion.
    if (signal?.aborted) return { outcome: 'unsaved', ...givenUp };
  } catch (error) {
    return { outcome: 'unsaved', code: 'unsaved', reason: asClause(reasonOf(error)) };
  }
  const saved = works.map(({ name, files, commits }) => ({
    name,
    files,
    commits,
    restore: parts.restoreCommand(name),
  }));
  return deleteDoomed(doomed, { place, saved }, parts);
}

/**
 * Deletes a directory whose work is saved, or that never had any. Its files go after its checkout record: while one of
 * them is there, the next daemon finds the directory and finishes the rest.
 */
export async function deleteDoomed(
  doomed: string,
  { place, saved }: { readonly place: string; readonly saved: readonly SavedName[] },
  parts: WorkspaceParts,
): Promise<Removal> {
  let rest = doomed;
  try {
    const name = readRemovalName(path.basename(doomed));
    if (name !== null && name.step === 'removing') {
      rest = path.join(path.dirname(doomed), removalName('deleting', name.key, name.count));
      await rename(doomed, rest);
    }
    // If a new workspace exists there, the checkout record belongs to that one.
    if ((await lstatOrNull(place)) === null) await parts.checkouts.forget(place);
    await deleteTree(rest);
    if (name !== null) await rm(noteOf(path.dirname(doomed), name), { force: true });
    return { outcome: 'removed', saved };
  } catch (error) {
    const reason = `only a part of it could be removed, and the rest is in ${rest}: ${reasonOf(error)}`;
    return { outcome: 'kept', code: 'rest_left', reason };
  }
}

/** The note of a removal. It keeps its name when the directory gets the name for deletion. */
function noteOf(folder: string, { key, count }: { readonly key: string; readonly count: number }): string {
  return removalNote(path.join(folder, removalName('removing', key, count)));
}

/** Removes notes without a directory: their removals were interrupted before the first rename, or after the deletion. */
export async function dropLoneNotes(folder: string, key: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const removal = readNoteName(name);
    if (removal?.key !== key) continue;
    const steps = (['removing', 'deleting'] as const).map((step) => removalName(step, key, removal.count));
    const found = await Promise.all(steps.map((each) => lstatOrNull(path.join(folder, each))));
    if (found.every((each) => each === null)) await rm(noteOf(folder, removal), { force: true });
  }
}

/** Which removal a file is the note of; null when it is not a note. */
export function readNoteName(name: string): { readonly key: string; readonly count: number } | null {
  const ending = removalNote('');
  const removal = name.endsWith(ending) ? readRemovalName(name.slice(0, -ending.length)) : null;
  return removal?.step === 'removing' ? removal : null;
}

/** A sentence without its capital letter and its full stop, to put it into another sentence. */
function asClause(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.+$/, '')}`;
}

/** Written before the rename, for the daemon that has to finish the removal. */
export async function writeNote(doomed: string, { issue, runId, attempt }: RemovalVisit): Promise<void> {
  const { id, identifier, title } = issue;
  await writeFile(removalNote(doomed), JSON.stringify({ issue: { id, identifier, title }, runId, attempt }));
}

/** For which issue and run a removal was begun; with an unreadable note only the key is known. */
export async function readNote(doomed: string, key: string): Promise<RemovalVisit> {
  const unknownVisit = { issue: { id: '', identifier: key, title: '' }, runId: null, attempt: null };
  try {
    const note: unknown = JSON.parse(await readFile(removalNote(doomed), 'utf8'));
    return isNote(note) ? note : unknownVisit;
  } catch {
    return unknownVisit;
  }
}

function isNote(note: unknown): note is RemovalVisit {
  if (typeof note !== 'object' || note === null || !('issue' in note) || !('runId' in note)) return false;
  const { issue, runId } = note;
  if (typeof issue !== 'object' || issue === null || !('id' in issue && 'identifier' in issue && 'title' in issue))
    return false;
  const texts = [issue.id, issue.identifier, issue.title, runId ?? ''];
  return texts.every((each) => typeof each === 'string');
}
