import { readdir } from 'node:fs/promises';
import { hasCode } from './error-reason.ts';

/** The names in a folder, in order; none where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
