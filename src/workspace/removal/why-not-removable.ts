import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import { canonicalPath } from '../canonical-path.ts';
import { reasonOf } from '../file-system.ts';
import type { WhyKept, WorkspacePlace } from '../workspace.ts';
import { workspacePath } from '../workspace-path.ts';

/**
 * Why this path must not be removed, whatever its content; null when it may be. The root may have changed since the path
 * was recorded (row O10), so the path itself is checked: absolute, free of links and of `..`, named after the issue,
 * neither a folder that contains the root or the home folder, nor inside another workspace.
 */
export function whyNotRemovable(
  place: WorkspacePlace,
  around: { readonly root: string; readonly home: string | undefined },
): WhyKept | null {
  if (!path.isAbsolute(place.path)) return { code: 'path_not_absolute', reason: 'its path is not absolute' };
  const parent = path.dirname(place.path);
  if (parent === path.parse(parent).root) {
    return { code: 'below_file_system_root', reason: 'it is directly below the root of the file system' };
  }
  try {
    const real = workspacePath(parent, place.identifier);
    if (real !== place.path) {
      const reason = `its path differs from ${real}, the path of the workspace of "${place.identifier}"`;
      return { code: 'path_of_another', reason };
    }
    const root = canonicalPath(around.root);
    if (contains(place.path, root)) return { code: 'holds_root', reason: `it contains the workspace root ${root}` };
    if (parent !== root && contains(root, place.path)) {
      return { code: 'inside_another', reason: `it is inside another workspace below ${root}` };
    }
    // Never remove the home folder, even if an issue has its name.
    const home = around.home === undefined || around.home === '' ? null : canonicalPath(path.resolve(around.home));
    if (home !== null && contains(place.path, home)) {
      return { code: 'holds_home', reason: `it contains the home folder ${home}` };
    }
    return null;
  } catch (error) {
    const isLink = error instanceof BatonError && error.code === 'workspace_symlink_escape';
    return { code: isLink ? 'symbolic_link' : 'failed', reason: reasonOf(error) };
  }
}

function contains(folder: string, other: string): boolean {
  return other === folder || other.startsWith(folder + path.sep);
}

/** Why a directory is not one that a removal may touch; null when it is. */
export async function whyNotADirectoryOfOurs(file: string, found: Stats): Promise<WhyKept | null> {
  if (found.isSymbolicLink()) return { code: 'symbolic_link', reason: `${file} is a symbolic link` };
  if (!found.isDirectory()) return { code: 'not_a_directory', reason: `${file} is not a directory` };
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) {
    return { code: 'other_owner', reason: `${file} belongs to another user` };
  }
  const parent = await lstat(path.dirname(file));
  if (parent.dev === found.dev) return null;
  return { code: 'other_file_system', reason: `${file} is the mount point of another file system` };
}
