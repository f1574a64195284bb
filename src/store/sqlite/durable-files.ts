import { closeSync, fsyncSync, openSync } from 'node:fs';
import path from 'node:path';

/** Returns when the content of the file is on the disk. Not for a database that is open (see instance-lock.ts). */
export function flushFile(file: string): void {
  flush(file, 'r+');
}

/** Returns when names made in the folder of `file` are on the disk. Windows has no such thing and needs none. */
export function flushFolderOf(file: string): void {
  if (process.platform !== 'win32') flush(path.dirname(file), 'r');
}

function flush(name: string, mode: 'r' | 'r+'): void {
  const handle = openSync(name, mode);
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
