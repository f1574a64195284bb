import { closeSync, openSync } from 'node:fs';

/**
 * Makes an empty file that only its owner may read, unless the name is taken: issues, prompts and the names of hosts are
 * in a store. SQLite gives the files that it puts beside it the same permissions.
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  }
}
