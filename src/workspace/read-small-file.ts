import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { type BytePath, fromBytePath } from './folders-of.ts';
import { lookAt } from './look-at.ts';

export interface SmallFile {
  /** Its bytes, or null when it is larger than asked for. */
  readonly text: BytePath | null;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Neither follows a link nor waits for the other end of a pipe, should one have taken the place of the file. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A plain file with at most so many of its bytes; null when there is no plain file. Throws when it cannot be read. */
export async function readSmallFile(path: BytePath, mostBytes: number): Promise<SmallFile | null> {
  const found = await lookAt(fromBytePath(path));
  if (found === null || !found.isFile()) return null;
  const { size, mtimeMs } = found;
  if (size > mostBytes) return { text: null, size, mtimeMs };
  const handle = await open(fromBytePath(path), flags);
  try {
    if (!(await handle.stat()).isFile()) return null;
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return { text: buffer.subarray(0, bytesRead).toString('latin1'), size, mtimeMs };
  } finally {
    await handle.close();
  }
}
