import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { hasCode } from './file-system.ts';
import { type BytePath, foldersOf, fromBytePath, toBytePath } from './folders-of.ts';

/** What an owner needs in a directory to remove what is in it. */
const ownerMay = 0o700;

/** Deletes a directory with all that is in it, links but never what they lead to. */
export async function deleteTree(path: string): Promise<void> {
  const forSure = { recursive: true, force: true, maxRetries: 3 };
  try {
    await rm(path, forSure);
  } catch (error) {
    if (!hasCode(error, 'EACCES') && !hasCode(error, 'EPERM')) throw error;
    // Tools write-protect the directories of their caches; that is no reason to leave them.
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

/** By a handle: a path that became a link would change the rights of what it leads to. */
async function allowWritingIn(folder: BytePath): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(fromBytePath(folder), flags);
  try {
    await handle.chmod(ownerMay);
  } finally {
    await handle.close();
  }
}
