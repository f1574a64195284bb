import { lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';

/** More links than this on one path are a loop; Linux gives up at the same number. */
const mostLinks = 40;

/**
 * Resolves every symbolic link of a path, segment by segment. From the first missing segment on, the rest stays
 * unchanged, so that a directory can be checked before it is made.
 */
export function canonicalPath(absolute: string): string {
  let resolved = path.parse(absolute).root;
  let segments = split(absolute);
  let links = 0;
  for (let segment = segments.shift(); segment !== undefined; segment = segments.shift()) {
    // The path so far is resolved, so its parent is the one that the kernel would use.
    if (segment === '..') {
      resolved = path.dirname(resolved);
      continue;
    }
    const next = path.join(resolved, segment);
    const found = readEntry(next);
    if (found.kind === 'missing') return path.join(next, ...segments);
    if (found.kind === 'plain') {
      resolved = next;
      continue;
    }
    links += 1;
    if (links > mostLinks) throw failure(absolute, 'ELOOP');
    if (path.isAbsolute(found.target)) resolved = path.parse(found.target).root;
    segments = [...split(found.target), ...segments];
  }
  return resolved;
}

type Found = { kind: 'missing' } | { kind: 'plain' } | { kind: 'link'; target: string };

function readEntry(file: string): Found {
  try {
    return lstatSync(file).isSymbolicLink() ? { kind: 'link', target: readlinkSync(file) } : { kind: 'plain' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT') return { kind: 'missing' };
    throw failure(file, code, error);
  }
}

/** Not normalised: `link/..` is the parent of the link's target. */
function split(file: string): string[] {
  return file
    .slice(path.parse(file).root.length)
    .split(path.sep)
    .filter((segment) => segment !== '' && segment !== '.');
}

function failure(file: string, reason: string, cause?: unknown): BatonError {
  return new BatonError('path_canonicalize_failed', `Failed to resolve the path ${file}: ${reason}.`, {
    cause,
    details: { path: file, reason },
  });
}
