import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { harmlessLine } from '../core/text/harmless-line.ts';

/** Whether the operating system said this. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** What was thrown, as one line for people: a name in it may come from an agent. */
export function reasonOf(thrown: unknown): string {
  return harmlessLine(thrown instanceof Error ? thrown.message : String(thrown));
}

/** What is there, never what a link leads to; null when there is nothing. Any other error is not read as "gone". */
export function lookAt(file: string | Buffer): Promise<Stats | null> {
  return unlessMissing(lstat(file), null);
}

/** The names in a folder, in order; none where there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await unlessMissing(readdir(folder), [])).toSorted();
}

async function unlessMissing<T, Missing>(found: Promise<T>, missing: Missing): Promise<T | Missing> {
  try {
    return await found;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return missing;
    throw error;
  }
}
