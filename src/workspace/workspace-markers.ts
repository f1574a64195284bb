import { basename, dirname, join } from 'node:path';

/**
 * Names of files and directories next to a workspace. No workspace can have them, because keys have no `+`. They show a
 * daemon which operation a previous one did not finish.
 */

/** A file: the workspace is being made, and its directory is half-made. */
export function creationMarker(path: string): string {
  return join(dirname(path), `+making+${basename(path)}`);
}

/**
 * The step of a removal. `removing`: the directory is renamed and its work may not be saved yet. `deleting`: its work is
 * saved, and only the deletion is left.
 */
export type RemovalStep = 'removing' | 'deleting';

/** The name of a workspace during its removal; the number distinguishes leftovers. */
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
