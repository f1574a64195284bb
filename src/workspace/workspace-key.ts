import { createHash } from 'node:crypto';

/** How a key ends that carries a hash. */
const hashEnding = /--[0-9a-f]{16}$/;

/**
 * Longer ones are cut: no name may have more than 255 bytes, and a removal puts its own words before and behind a key
 * (`workspace-marks.ts`).
 */
const mostBytes = 200;

/** What a hash adds. */
const endingBytes = '--'.length + 16;

/**
 * The directory name of an issue (specification 4.2): every byte outside `[A-Za-z0-9._-]` becomes `_`; when that changed
 * anything, sixteen hex digits of the identifier's SHA-256 follow, so that two identifiers never share a directory. They
 * also follow an identifier that ends as if it had them already: it could be the key of another (ours), and what is left
 * of one that would be too long a name (ours).
 * Byte by byte, not character by character, so that other implementations of the specification find the same one.
 */
export function workspaceKey(identifier: string): string {
  const bytes = Buffer.from(identifier, 'utf8');
  const safe = bytes.toString('latin1').replaceAll(/[^A-Za-z0-9._-]/g, '_');
  if (safe === identifier && !hashEnding.test(identifier) && safe.length <= mostBytes) return safe;
  return `${safe.slice(0, mostBytes - endingBytes)}--${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;
}
