import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { BatonError } from '../core/baton-error.ts';

/**
 * A path as its bytes, one character a byte (latin1): a name that an agent made need not be text, and no two names may
 * become one.
 */
export type BytePath = string;

export interface Folder {
  readonly path: BytePath;
  /** In the order of their bytes. */
  readonly entries: readonly Dirent[];
}

export interface Walk {
  /** How many entries may still come; walks that share it share the bound. */
  readonly budget: { left: number };
  /** Whether to go into a directory of this name in this folder. */
  readonly enters: (name: BytePath, folder: BytePath) => boolean;
}

/** How many names one call to the kernel returns; more would only cost memory. */
const namesAtOnce = 512;

export function toBytePath(path: string): BytePath {
  return Buffer.from(path, 'utf8').toString('latin1');
}

/** The path as the kernel takes it. */
export function fromBytePath(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

/**
 * Every directory of a tree, always in the same order, without following a symbolic link. Throws for an unreadable
 * directory and when the budget is spent, so a caller that reaches the end has seen everything.
 */
export async function* foldersOf(root: BytePath, walk: Walk): AsyncGenerator<Folder> {
  const waiting: BytePath[] = [root];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entries = await entriesOf(path, walk.budget);
    yield { path, entries };
    for (const entry of entries) {
      if (entry.isDirectory() && walk.enters(entry.name, path)) waiting.push(`${path}/${entry.name}`);
    }
  }
}

/** Read piece by piece: a directory may hold more names than there is memory for. */
async function entriesOf(path: BytePath, budget: { left: number }): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(fromBytePath(path), { encoding: 'latin1', bufferSize: namesAtOnce })) {
    budget.left -= 1;
    if (budget.left < 0)
      throw new BatonError('workspace_unavailable', 'It holds too many entries to look at them all.');
    entries.push(entry);
  }
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}
