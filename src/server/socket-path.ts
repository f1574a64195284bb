import { createHash } from 'node:crypto';
import path from 'node:path';

/** The longest path a socket may have: 104 bytes on macOS, 108 on Linux, with the byte that ends it. */
const longestSocketPath = 103;

/** Where the daemon of a state folder listens: in that folder, or in the temporary one when its path is too long. */
export function socketPath(stateDir: string, tmpDir: string): string {
  const inside = path.join(stateDir, 'baton.sock');
  if (Buffer.byteLength(inside) <= longestSocketPath) return inside;
  const name = createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
  return path.join(tmpDir, `baton-${name}.sock`);
}
