import { copyFile, open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../file-system.ts';

/** Resolves when the content of the file, or the names in the folder, are on the disk. */
export async function flush(fileOrFolder: string): Promise<void> {
  const handle = await open(fileOrFolder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Moves a file, also onto another disk; resolves when it is there for good. */
export async function moveDurably(from: string, to: string): Promise<void> {
  await flush(from);
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    await copyFile(from, to);
    await flush(to);
    await rm(from);
  }
  await flush(path.dirname(to));
}

/** Writes a file atomically: a reader never sees a part of it. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const half = `${file}.new`;
  await writeFile(half, text);
  await moveDurably(half, file);
}
