import type { Stats } from 'node:fs';
import path from 'node:path';
import { canonicalPath } from './canonical-path.ts';
import { lookAt, namesIn } from './file-system.ts';
import { foldersOf, fromBytePath, toBytePath } from './folders-of.ts';
import type { WorkspaceEntry } from './workspace.ts';
import { creationMark, readRemovalName } from './workspace-marks.ts';

/** Entries that are read for the size of one workspace; a workspace with more has no size. */
const mostEntries = 1_000_000;

/** How many files are asked about at once: enough to keep the kernel busy, few enough for others to have their turn. */
const askedAtOnce = 64;

/** The kernel counts the disk space of a file in blocks of this size, on every disk. */
const blockBytes = 512;

/** A name that a workspace can have; everything else below the root is a mark of Baton's, or somebody's. */
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
    const stats = await lookAt(folder).catch(() => null);
    if (stats === null || !stats.isDirectory()) continue;
    // In doubt it is: a half-made workspace is not taken for a whole one.
    const isMaking = removal === null && (await lookAt(creationMark(folder)).catch(() => true)) !== null;
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

/** The disk space of a tree, each file once however many names it has; null when not everything could be read. */
async function sizeOf(root: string, entries: number = mostEntries): Promise<number | null> {
  const seen = new Set<string>();
  let blocks = 0;
  try {
    const top = await lookAt(root);
    if (top === null || !top.isDirectory()) return null;
    blocks += top.blocks;
    for await (const folder of foldersOf(toBytePath(root), { budget: { left: entries }, enters: () => true })) {
      for (let from = 0; from < folder.entries.length; from += askedAtOnce) {
        const some = folder.entries.slice(from, from + askedAtOnce);
        const looks = await Promise.all(some.map(({ name }) => lookAt(fromBytePath(`${folder.path}/${name}`))));
        for (const stats of looks) blocks += newBlocks(stats, seen);
      }
    }
    return blocks * blockBytes;
  } catch {
    return null;
  }
}

function newBlocks(stats: Stats | null, seen: Set<string>): number {
  // Gone since it was listed: then it takes no space.
  if (stats === null) return 0;
  if (stats.nlink === 1 || stats.isDirectory()) return stats.blocks;
  const file = `${stats.dev}:${stats.ino}`;
  if (seen.has(file)) return 0;
  seen.add(file);
  return stats.blocks;
}
