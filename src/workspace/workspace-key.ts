import { createHash } from 'node:crypto';

/**
 * The directory name of an issue (specification 4.2): every byte outside `[A-Za-z0-9._-]` becomes `_`; when that changed
 * anything, sixteen hex digits of the identifier's SHA-256 follow, so that two identifiers never share a directory.
 * Byte by byte, not character by character, so that other implementations of the specification find the same one.
 */
export function workspaceKey(identifier: string): string {
  const bytes = Buffer.from(identifier, 'utf8');
  const safe = bytes.toString('latin1').replaceAll(/[^A-Za-z0-9._-]/g, '_');
  if (safe === identifier) return safe;
  return `${safe}--${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;
}
