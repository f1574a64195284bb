import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { canonicalPath } from './canonical-path.ts';
import { reasonOf } from './error-reason.ts';
import type { WorkspacePlace } from './workspace.ts';
import { workspacePath } from './workspace-path.ts';

/**
 * Why this path is not to be removed, whatever is there, or null. The root may have been edited since the path was
 * written down (row O10), so the path is judged by itself: absolute, free of links and of `..`, named after the issue,
 * and neither a place that holds others nor one inside another workspace.
 */
export function whyNotRemovable(
  place: WorkspacePlace,
  around: { readonly root: string; readonly home: string | undefined },
): string | null {
  if (!path.isAbsolute(place.path)) return 'its path is not absolute';
  const parent = path.dirname(place.path);
  if (parent === path.parse(parent).root) return 'it is directly below the root of the file system';
  try {
    const real = workspacePath(parent, place.identifier);
    if (real !== place.path) return `its path is not that of a workspace of "${place.identifier}", which is ${real}`;
    const root = canonicalPath(around.root);
    if (contains(place.path, root)) return `it holds the workspace root ${root}`;
    if (parent !== root && contains(root, place.path)) return `it is inside another workspace below ${root}`;
    // A home folder is somebody's, even when a ticket has its name.
    const home = around.home === undefined || around.home === '' ? null : canonicalPath(path.resolve(around.home));
    if (home !== null && contains(place.path, home)) return `it holds the home folder ${home}`;
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

function contains(folder: string, other: string): boolean {
  return other === folder || other.startsWith(folder + path.sep);
}

/** Why a directory is not one that a removal may touch; null when it is. */
export async function whyNotADirectoryOfOurs(file: string, found: Stats): Promise<string | null> {
  if (found.isSymbolicLink()) return `${file} is a symbolic link`;
  if (!found.isDirectory()) return `${file} is no directory`;
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) return `${file} belongs to another user`;
  const parent = await lstat(path.dirname(file));
  return parent.dev === found.dev ? null : `${file} is a file system of its own`;
}
