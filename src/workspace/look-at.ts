import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { hasCode } from './error-reason.ts';

/** What is there, never what a link leads to; null when there is nothing. Any other error is not read as "gone". */
export async function lookAt(file: string | Buffer): Promise<Stats | null> {
  try {
    return await lstat(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
