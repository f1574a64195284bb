import { basename, dirname, join } from 'node:path';

/**
 * Names beside a workspace that no workspace can have, for keys have no `+`. They tell a later daemon what an earlier
 * one was in the middle of.
 */

/** A file: the workspace is being made, and what is there is half-made. */
export function creationMark(path: string): string {
  return join(dirname(path), `+making+${basename(path)}`);
}

/** What a workspace is called from the moment its removal is decided; the number tells leftovers apart. */
export function removalName(key: string, count: number): string {
  return `+removing+${key}+${count}`;
}

/** The key in such a name, or null when the name is another. */
export function keyBeingRemoved(name: string): string | null {
  return /^\+removing\+([A-Za-z0-9._-]+)\+\d+$/.exec(name)?.[1] ?? null;
}
