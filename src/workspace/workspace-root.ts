import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { lookAt } from './file-system.ts';
import { checkoutFolders } from './git/checkout/checkout-record.ts';
import type { GitPlaces } from './git/git-places.ts';

/**
 * The root of the workspaces may lie on a disk that comes and goes. While it is away, every workspace seems to be
 * deleted; so the files that Baton keeps for a workspace in the state folder record the file system's number of that
 * root.
 */

/** Records the root of a workspace next to its checkout record. Does nothing for a workspace without one. */
export async function rememberRoot(places: GitPlaces, workspace: string): Promise<void> {
  const { folder } = checkoutFolders(places, workspace);
  if ((await lookAt(folder)) === null) return;
  const number = await numberOf(path.dirname(workspace));
  if (number === null || number === (await remembered(folder))) return;
  // Without it a removal is only more careful; no run fails for that.
  await writeFile(path.join(folder, 'root'), number).catch(() => {});
}

/** Why a workspace that is not in its root may still be somewhere; null when it is gone for good. */
export async function whyRootIsAway(places: GitPlaces, workspace: string): Promise<string | null> {
  const root = path.dirname(workspace);
  const number = await numberOf(root);
  const advice = `if it is gone for good, make ${root} with any file in it`;
  if (number === null) return `its folder ${root} is not there, as if its disk were away; ${advice}`;
  if ((await readdir(root)).length > 0 || number === (await remembered(checkoutFolders(places, workspace).folder)))
    return null;
  return `its folder ${root} is another one than it was and empty, as if its disk were away; ${advice}`;
}

async function numberOf(root: string): Promise<string | null> {
  const found = await lookAt(root);
  return found === null ? null : String(found.ino);
}

async function remembered(folder: string): Promise<string | null> {
  return await readFile(path.join(folder, 'root'), 'utf8').catch(() => null);
}
