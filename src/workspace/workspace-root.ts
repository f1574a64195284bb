import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { lstatOrNull } from './file-system.ts';
import { checkoutFolders } from './git/checkout/checkout-record.ts';
import type { GitPlaces } from './git/git-places.ts';

/**
 * The workspace root may be on a disk that is not always mounted. While it is not, every workspace seems to be deleted.
 * So Baton records the device number of the root next to its files for a workspace, in the state folder.
 */

/** Records the root of a workspace next to its checkout record. Does nothing for a workspace without one. */
export async function rememberRoot(places: GitPlaces, workspace: string): Promise<void> {
  const { folder } = checkoutFolders(places, workspace);
  if ((await lstatOrNull(folder)) === null) return;
  const number = await numberOf(path.dirname(workspace));
  if (number === null || number === (await remembered(folder))) return;
  // Without this record a removal is only more careful, so a failure must not fail the run.
  await writeFile(path.join(folder, 'root'), number).catch(() => {});
}

/** Why a workspace that is missing in its root may still exist; null when it is gone for good. */
export async function whyRootIsAway(places: GitPlaces, workspace: string): Promise<string | null> {
  const root = path.dirname(workspace);
  const number = await numberOf(root);
  const advice = `if the workspaces are gone for good, create ${root} with any file in it`;
  if (number === null) return `its folder ${root} does not exist, so its disk may not be mounted; ${advice}`;
  if ((await readdir(root)).length > 0 || number === (await remembered(checkoutFolders(places, workspace).folder)))
    return null;
  return `its folder ${root} is empty and on another device than before, so its disk may not be mounted; ${advice}`;
}

async function numberOf(root: string): Promise<string | null> {
  const found = await lstatOrNull(root);
  return found === null ? null : String(found.ino);
}

async function remembered(folder: string): Promise<string | null> {
  return await readFile(path.join(folder, 'root'), 'utf8').catch(() => null);
}
