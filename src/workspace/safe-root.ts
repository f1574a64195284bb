import { lstatSync } from 'node:fs';
import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import { type FolderFacts, type UnsafeFolder, unsafeFolderReasons, whyFolderUnsafe } from '../core/safe-folder.ts';
import { canonicalPath } from './canonical-path.ts';

const enteredByOthers = 0o011;

/**
 * Refuses a root of workspaces that another user of this machine controls: that user could put a directory of their own
 * in the place of a workspace, and the agent would run there. A missing root is harmless. Does nothing where the
 * platform has no users.
 */
export function refuseUnsafeRoot(root: string): void {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  const real = canonicalPath(root);
  const found = factsOf(real);
  if (found === null || uid === undefined || gid === undefined) return;
  // The path as it is written may lead over links that others can change.
  const above = [...foldersAbove(real), root, ...foldersAbove(root)].flatMap((each) => factsOf(each) ?? []);
  const problem = whyFolderUnsafe(found, above, { uid, gid });
  if (problem === null) return;
  const message = `${root} cannot hold workspaces: ${unsafeFolderReasons[problem]}.`;
  throw new BatonError('workspace_root_unsafe', message, { details: { root, problem } });
}

/**
 * Why another user could have written to an existing workspace below a safe root; null when none could. What an agent
 * opens with `chmod` inside a root that only its user can enter stays out of reach.
 */
export function whyWorkspaceUnsafe(workspace: string): UnsafeFolder | null {
  const [uid, gid] = [process.geteuid?.(), process.getegid?.()];
  const found = factsOf(workspace);
  if (found === null || uid === undefined || gid === undefined) return null;
  const problem = whyFolderUnsafe(found, [], { uid, gid });
  const isRootOpen = ((factsOf(path.dirname(workspace))?.mode ?? 0) & enteredByOthers) !== 0;
  return problem === 'writable_by_others' && !isRootOpen ? null : problem;
}

function foldersAbove(folder: string): readonly string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [] : [parent, ...foldersAbove(parent)];
}

/** Null for a missing entry. */
function factsOf(file: string): FolderFacts | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats === undefined
    ? null
    : { isFolder: stats.isDirectory(), uid: stats.uid, gid: stats.gid, mode: stats.mode };
}
