import type { Stats } from 'node:fs';
import path from 'node:path';
import { canonicalPath } from './canonical-path.ts';
import { lstatOrNull, namesIn } from './file-system.ts';
import { fromBytePath, toBytePath, walkFolders } from './walk-folders.ts';
import type { WorkspaceEntry } from './workspace.ts';
import { creationMarker, readRemovalName } from './workspace-markers.ts';

/** How many entries are read for the size of one workspace. For a workspace with more, the size is unknown. */
const mostEntries = 1_000_000;

/** How many files are examined at once: enough to keep the kernel busy, few enough to leave time for other work. */
const askedAtOnce = 64;

/** The kernel counts the disk space of a file in blocks of this size, on every disk. */
const blockBytes = 512;

/** A name that a workspace can have. Everything else in the root is a marker of Baton or a foreign file. */
const keyPattern = /^(?!\.\.?$)[A-Za-z0-9._-]+$/;

export interface ListOptions {
  /** Sizes cost a walk through every file; without them `bytes` is null. */
  readonly sizes?: boolean;
  readonly mostEntries?: number;
}

/**
 * The workspaces below a root, in the order of their names, and the leftovers of removals. Never follows a link: links
 * and plain files in the root are not workspaces. Rejects only when the root itself cannot be read; a missing root has
 * no workspaces.
 */
export async function listWorkspaces(root: string, options: ListOptions = {}): Promise<WorkspaceEntry[]> {
  const realRoot = canonicalPath(root);
  const found: WorkspaceEntry[] = [];
  for (const name of await namesIn(realRoot)) {
    const removal = readRemovalName(name);
    const key = removal?.key ?? (keyPattern.test(name) ? name : null);
    if (key === null) continue;
    const folder = path.join(realRoot, name);
    const stats = await lstatOrNull(folder).catch(() => null);
    if (stats === null || !stats.isDirectory()) continue;
    // On an error it counts as half-made: a half-made workspace must not be mistaken for a complete one.
    const isMaking = removal === null && (await lstatOrNull(creationMarker(folder)).catch(() => true)) !== null;
    found.push({
      key,
      path: folder,
      state: removal === null ? (isMaking ? 'making' : 'whole') : 'removing',
      bytes: options.sizes === true ? await sizeOf(folder, options.mostEntries ?? mostEntries) : null,
      changedAt: Math.floor(stats.mtimeMs),
    });
  }
  return found;
}

/** The disk space of a tree, counting files with several names once; null when not everything could be read. */
export async function sizeOf(root: string, entries: number = mostEntries): Promise<number | null> {
  const seen = new Set<string>();
  let blocks = 0;
  try {
    const top = await lstatOrNull(root);
    if (top === null || !top.isDirectory()) return null;
    blocks += top.blocks;
    for await (const folder of walkFolders(toBytePath(root), { budget: { left: entries }, enters: () => true })) {
      for (let from = 0; from < folder.entries.length; from += askedAtOnce) {
        const some = folder.entries.slice(from, from + askedAtOnce);
        const found = await Promise.all(some.map(({ name }) => lstatOrNull(fromBytePath(`${folder.path}/${name}`))));
        for (const stats of found) blocks += newBlocks(stats, seen);
      }
    }
    return blocks * blockBytes;
  } catch {
    return null;
  }
}

function newBlocks(stats: Stats | null, seen: Set<string>): number {
  // Removed since it was listed.
  if (stats === null) return 0;
  if (stats.nlink === 1 || stats.isDirectory()) return stats.blocks;
  const file = `${stats.dev}:${stats.ino}`;
  if (seen.has(file)) return 0;
  seen.add(file);
  return stats.blocks;
}
