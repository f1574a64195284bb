import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * A program `gh` that writes what it was asked and which token it saw to the file `asked`, then does as `acts` says. Returns
 * the folder that it is in, for a PATH.
 */
export function fakeGh(folder: string, acts: string): string {
  const file = path.join(folder, 'bin', 'gh');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "$* [$GH_TOKEN$GITHUB_TOKEN]" >> ${folder}/asked\n${acts}\n`);
  chmodSync(file, 0o755);
  return path.dirname(file);
}
