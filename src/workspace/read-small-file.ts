import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { BatonError } from '../core/baton-error.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { lstatOrNull } from './file-system.ts';
import { type BytePath, fromBytePath } from './walk-folders.ts';

export interface SmallFile {
  /** Its bytes; null when it is larger than the limit. */
  readonly text: BytePath | null;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Neither follows a link nor waits at a pipe, if one has replaced the file. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * A plain file with its first `mostBytes` bytes at most; null when it is not a plain file. Throws when it cannot be
 * read.
 */
export async function readSmallFile(path: BytePath, mostBytes: number): Promise<SmallFile | null> {
  const found = await lstatOrNull(fromBytePath(path));
  if (found === null || !found.isFile()) return null;
  const { size, mtimeMs } = found;
  if (size > mostBytes) return { text: null, size, mtimeMs };
  const bytes = await withPlainFile(path, (handle) => readAll(handle, size));
  return bytes === null ? null : { text: bytes.toString('latin1'), size, mtimeMs };
}

/** All of a plain file; null only when nothing is there. Throws for anything else, and for a file that is too large. */
export async function readPlainFile(path: BytePath, mostBytes: number): Promise<Buffer | null> {
  const found = await lstatOrNull(fromBytePath(path));
  if (found === null) return null;
  if (found.size > mostBytes) throw unreadable(path, 'is too large');
  const bytes = found.isFile() ? await withPlainFile(path, (handle) => readAll(handle, found.size)) : null;
  if (bytes === null) throw unreadable(path, 'is not a regular file');
  return bytes;
}

/** Opens a plain file and closes it again; null when it is not a plain file. */
export async function withPlainFile<T>(path: BytePath, use: (file: FileHandle) => Promise<T>): Promise<T | null> {
  const handle = await open(fromBytePath(path), flags);
  try {
    return (await handle.stat()).isFile() ? await use(handle) : null;
  } finally {
    await handle.close();
  }
}

async function readAll(handle: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await handle.read(buffer, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function unreadable(path: BytePath, why: string): BatonError {
  return new BatonError('workspace_unavailable', `${harmlessLine(fromBytePath(path).toString('utf8'))} ${why}.`);
}
