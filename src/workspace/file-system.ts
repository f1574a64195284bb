import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { harmlessLine } from '../core/text/harmless-line.ts';

/** Whether the operating system returned this error code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** A thrown value as one harmless line for people: a name in it may come from an agent. */
export function reasonOf(thrown: unknown): string {
  return harmlessLine(thrown instanceof Error ? thrown.message : String(thrown));
}

/** `lstat`, or null when there is no such entry. Rejects on any other error, which does not mean that it is gone. */
export function lstatOrNull(file: string | Buffer): Promise<Stats | null> {
  return unlessMissing(lstat(file), null);
}

/** The sorted names in a folder; empty where the folder does not exist. */
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
