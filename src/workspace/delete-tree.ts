import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { hasCode } from './file-system.ts';
import { type BytePath, foldersOf, fromBytePath, toBytePath } from './folders-of.ts';

/** The rights that an owner needs on a directory to remove its content. */
const ownerMay = 0o700;

/** Deletes a directory with its whole content: links, but never their targets. */
export async function deleteTree(path: string): Promise<void> {
  const forSure = { recursive: true, force: true, maxRetries: 3 };
  try {
    await rm(path, forSure);
  } catch (error) {
    if (!hasCode(error, 'EACCES') && !hasCode(error, 'EPERM')) throw error;
    // Tools write-protect the directories of their caches; Baton removes them all the same.
    await allowWriting(toBytePath(path));
    await rm(path, forSure);
  }
}

async function allowWriting(root: BytePath): Promise<void> {
  await allowWritingIn(root);
  for await (const folder of foldersOf(root, { budget: { left: Number.POSITIVE_INFINITY }, enters: () => true })) {
    for (const entry of folder.entries) {
      if (entry.isDirectory()) await allowWritingIn(`${folder.path}/${entry.name}`);
    }
  }
}

/** By a handle: with a path that became a link, the call would change the rights of the link's target. */
async function allowWritingIn(folder: BytePath): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(fromBytePath(folder), flags);
  try {
    await handle.chmod(ownerMay);
  } finally {
    await handle.close();
  }
}
