import { basename, dirname, join } from 'node:path';

/**
 * Names beside a workspace that no workspace can have, for keys have no `+`. They tell a later daemon what an earlier
 * one was in the middle of.
 */

/** A file: the workspace is being made, and what is there is half-made. */
export function creationMark(path: string): string {
  return join(dirname(path), `+making+${basename(path)}`);
}

/**
 * How far a removal is: `removing` has its new name and its work may not be saved yet, `deleting` is saved and only to
 * be deleted.
 */
export type RemovalStep = 'removing' | 'deleting';

/** What a workspace is called from the moment its removal is decided; the number tells leftovers apart. */
export function removalName(step: RemovalStep, key: string, count: number): string {
  return `+${step}+${key}+${count}`;
}

/** What such a name says, or null when the name is another. */
export function readRemovalName(name: string): { step: RemovalStep; key: string; count: number } | null {
  const found = /^\+(removing|deleting)\+([A-Za-z0-9._-]+)\+(\d{1,9})$/.exec(name);
  if (found === null) return null;
  const [, step, key = '', count] = found;
  return { step: step === 'deleting' ? 'deleting' : 'removing', key, count: Number(count) };
}

/** A file beside a directory that is being removed: for whom, for a daemon that has to finish it. */
export function removalNote(doomed: string): string {
  return `${doomed}.json`;
}
