import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { hasCode } from './file-system.ts';
import { type BytePath, fromBytePath, toBytePath, walkFolders } from './walk-folders.ts';

/** The permissions that an owner needs on a directory to remove its content. */
const ownerMay = 0o700;

/** Deletes a directory with its whole content: links, but never their targets. */
export async function deleteTree(path: string): Promise<void> {
  const forSure = { recursive: true, force: true, maxRetries: 3 };
  try {
    await rm(path, forSure);
  } catch (error) {
    if (!hasCode(error, 'EACCES') && !hasCode(error, 'EPERM')) throw error;
    // Some tools write-protect the directories of their caches. Baton still removes them.
    await allowWriting(toBytePath(path));
    await rm(path, forSure);
  }
}

async function allowWriting(root: BytePath): Promise<void> {
  await allowWritingIn(root);
  for await (const folder of walkFolders(root, { budget: { left: Number.POSITIVE_INFINITY }, enters: () => true })) {
    for (const entry of folder.entries) {
      if (entry.isDirectory()) await allowWritingIn(`${folder.path}/${entry.name}`);
    }
  }
}

/** Uses a handle: if the path has become a link, a call with the path would change the permissions of its target. */
async function allowWritingIn(folder: BytePath): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(fromBytePath(folder), flags);
  try {
    await handle.chmod(ownerMay);
  } finally {
    await handle.close();
  }
}
