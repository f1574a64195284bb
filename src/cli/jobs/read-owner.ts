import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Under which id the daemon of this state folder keeps its jobs, without taking the folder (see daemon-identity.ts); null
 * where no daemon ever was. It only decides which rows come first: nothing is owned by it.
 */
export function readOwner(stateDir: string): string | null {
  try {
    const [id] = readFileSync(path.join(stateDir, 'daemon-id'), 'utf8').split('\n', 1);
    return id === undefined || id === '' ? null : id;
  } catch {
    return null;
  }
}
