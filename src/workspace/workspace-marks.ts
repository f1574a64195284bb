import { basename, dirname, join } from 'node:path';

/**
 * Names next to a workspace that no workspace can have, because keys have no `+`. They tell a later daemon which
 * operation an earlier one was in the middle of.
 */

/** A file: the workspace is being made, and its directory is half-made. */
export function creationMark(path: string): string {
  return join(dirname(path), `+making+${basename(path)}`);
}

/**
 * How far a removal is: `removing` has its new name and its work may not be saved yet, `deleting` is saved and only to
 * be deleted.
 */
export type RemovalStep = 'removing' | 'deleting';

/** The name of a workspace from the moment its removal is decided; the number tells leftovers apart. */
export function removalName(step: RemovalStep, key: string, count: number): string {
  return `+${step}+${key}+${count}`;
}

/** The parts of such a name, or null for any other name. */
export function readRemovalName(name: string): { step: RemovalStep; key: string; count: number } | null {
  const found = /^\+(removing|deleting)\+([A-Za-z0-9._-]+)\+(\d{1,9})$/.exec(name);
  if (found === null) return null;
  const [, step, key = '', count] = found;
  return { step: step === 'deleting' ? 'deleting' : 'removing', key, count: Number(count) };
}

/** A file next to a directory that is being removed: it names the issue and run, for a daemon that has to finish it. */
export function removalNote(doomed: string): string {
  return `${doomed}.json`;
}
