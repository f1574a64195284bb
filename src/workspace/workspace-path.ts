import path from 'node:path';
import { BatonError, type BatonErrorOptions } from '../core/baton-error.ts';
import type { ErrorCode } from '../core/error-catalogue.ts';
import { canonicalPath } from './canonical-path.ts';
import { workspaceKey } from './workspace-key.ts';

/**
 * The real path of an issue's workspace. It is always a direct child of the real root: an identifier or a symbolic
 * link that would lead anywhere else is refused before anything is touched (specification 9.5, row X9).
 */
export function workspacePath(root: string, identifier: string): string {
  // Half a surrogate pair becomes the same bytes as every other; a NUL fits into no path and no environment.
  if (!identifier.isWellFormed() || identifier.includes('\0'))
    throw refuse('path_canonicalize_failed', identifier, 'would have a name that is no text');
  const realRoot = canonicalPath(root);
  const key = workspaceKey(identifier);
  if (key === '' || key === '.')
    throw refuse('workspace_equals_root', identifier, `is no directory of its own below ${root}`);
  if (key === '..') throw refuse('workspace_outside_root', identifier, `leads out of ${root}`);
  const wanted = path.join(realRoot, key);
  const real = canonicalPath(wanted);
  if (real !== wanted) throw refuse('workspace_symlink_escape', identifier, `is a symbolic link to ${real}`);
  return wanted;
}

function refuse(code: ErrorCode, identifier: string, what: string): BatonError {
  const options: BatonErrorOptions = { details: { identifier } };
  return new BatonError(code, `The workspace of "${identifier}" ${what}.`, options);
}
