import { createHash } from 'node:crypto';
import path from 'node:path';
import { BatonError, type BatonErrorOptions } from '../core/baton-error.ts';
import type { ErrorCode } from '../core/error-catalogue.ts';
import { canonicalPath } from './canonical-path.ts';
import { lstatOrNull } from './file-system.ts';

/**
 * The real path of an issue's workspace. It is always a direct child of the real root: an identifier or a symbolic
 * link that would lead anywhere else is refused before anything is touched (specification 9.5, row X9).
 */
export function workspacePath(root: string, identifier: string): string {
  // Half a surrogate pair becomes the same bytes as every other; a NUL fits into no path and no environment.
  if (!identifier.isWellFormed() || identifier.includes('\0'))
    throw refuse('path_canonicalize_failed', identifier, 'would have a name that is not valid text');
  const realRoot = canonicalPath(root);
  const key = workspaceKey(identifier);
  if (key === '' || key === '.')
    throw refuse('workspace_equals_root', identifier, `would be the workspace root ${root} itself`);
  if (key === '..') throw refuse('workspace_outside_root', identifier, `would be outside of ${root}`);
  const wanted = path.join(realRoot, key);
  const real = canonicalPath(wanted);
  if (real !== wanted) throw refuse('workspace_symlink_escape', identifier, `is a symbolic link to ${real}`);
  return wanted;
}

function refuse(code: ErrorCode, identifier: string, what: string): BatonError {
  const options: BatonErrorOptions = { details: { identifier } };
  return new BatonError(code, `The workspace of "${identifier}" ${what}.`, options);
}

/**
 * Verifies, right before the launch, that the agent's directory is the workspace of its issue and exists. Since it was
 * prepared, a hook or another program may have replaced it by a link, and an agent follows links.
 */
export async function verifyWorkspace(root: string, path: string, identifier: string): Promise<void> {
  // Resolves the path again, and refuses the root itself and everything outside of it.
  const now = workspacePath(root, identifier);
  if (now !== path)
    throw new BatonError(
      'workspace_outside_root',
      `The workspace of "${identifier}" has changed from ${path} to ${now}.`,
    );
  if ((await lstatOrNull(path))?.isDirectory() !== true)
    throw new BatonError('workspace_unavailable', `The workspace ${path} no longer exists.`);
}

const hashEnding = /--[0-9a-f]{16}$/;

/**
 * Longer ones are cut: no name may have more than 255 bytes, and a removal puts its own words before and behind a key
 * (`workspace-markers.ts`).
 */
const mostBytes = 200;

const endingBytes = '--'.length + 16;

/**
 * The directory name of an issue (specification 4.2): every byte outside `[A-Za-z0-9._-]` becomes `_`; when that changed
 * anything, sixteen hex digits of the identifier's SHA-256 follow, so that two identifiers never share a directory. They
 * also follow an identifier that ends as if it had them already, because it could be the key of another (ours), and the
 * shortened form of an identifier that is too long for a name (ours). A dot at the beginning becomes `_` too (ours): in a
 * directory `.git` next to them, git would find a repository for every other workspace.
 * Byte by byte, not character by character, so that other implementations of the specification find the same name.
 */
export function workspaceKey(identifier: string): string {
  const bytes = Buffer.from(identifier, 'utf8');
  const safe = bytes
    .toString('latin1')
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\.(?!\.?$)/, '_');
  if (safe === identifier && !hashEnding.test(identifier) && safe.length <= mostBytes) return safe;
  return `${safe.slice(0, mostBytes - endingBytes)}--${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;
}
