import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { BatonError } from '../core/baton-error.ts';

/**
 * A path as its bytes, one character per byte (latin1): a name that an agent made may not be valid UTF-8, and two
 * different names must never become the same text.
 */
export type BytePath = string;

export interface Folder {
  readonly path: BytePath;
  /** In the order of their bytes. */
  readonly entries: readonly Dirent[];
}

export interface Walk {
  /** How many more entries may be read; walks that share it share the limit. */
  readonly budget: { left: number };
  /** Whether to go into a directory of this name in this folder. */
  readonly enters: (name: BytePath, folder: BytePath) => boolean;
}

/** How many names one call to the kernel returns; a higher number only costs memory. */
const namesAtOnce = 512;

export function toBytePath(path: string): BytePath {
  return Buffer.from(path, 'utf8').toString('latin1');
}

/** The path for calls to the kernel. */
export function fromBytePath(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

/**
 * Every directory of a tree, always in the same order, without following a symbolic link. Throws for an unreadable
 * directory and when the budget is spent, so a caller that reaches the end has seen everything.
 */
export async function* walkFolders(root: BytePath, walk: Walk): AsyncGenerator<Folder> {
  const waiting: BytePath[] = [root];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entries = await entriesOf(path, walk.budget);
    yield { path, entries };
    for (const entry of entries) {
      if (entry.isDirectory() && walk.enters(entry.name, path)) waiting.push(`${path}/${entry.name}`);
    }
  }
}

/** Reads in pieces: a directory may have more names than fit into memory. */
async function entriesOf(path: BytePath, budget: { left: number }): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(fromBytePath(path), { encoding: 'latin1', bufferSize: namesAtOnce })) {
    budget.left -= 1;
    if (budget.left < 0)
      throw new BatonError('workspace_unavailable', 'The folder has too many entries to read them all.');
    entries.push(entry);
  }
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}
