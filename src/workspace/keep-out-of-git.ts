import { lstat, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import { hasCode } from './file-system.ts';

/** Makes a folder that git ignores, with everything in it, by an ignore file of its own. No process of a run works there now. */
export async function keepOutOfGit(workspace: string, folder: string): Promise<void> {
  const place = path.join(workspace, folder);
  await mkdir(place).catch(unless('EEXIST'));
  // A link would lead Baton out of the workspace.
  if (!(await lstat(place)).isDirectory())
    throw new BatonError('workspace_unavailable', `${place} is not a folder, so no artifact can be written there.`);
  await writeFile(path.join(place, '.gitignore'), '*\n', { flag: 'wx' }).catch(unless('EEXIST'));
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (!hasCode(error, code)) throw error;
  };
}
