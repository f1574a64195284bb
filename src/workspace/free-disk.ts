import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from './file-system.ts';

const megabyte = 1024 ** 2;

/** Free megabytes on the disk of this folder, which need not exist yet; null when unknown. Never rejects. */
export async function freeDiskMb(folder: string): Promise<number | null> {
  try {
    const { stats } = await nearestFolder(folder);
    // Some file systems have no size and cannot run full.
    return stats.blocks === 0 ? null : Math.floor((stats.bavail * stats.bsize) / megabyte);
  } catch {
    return null;
  }
}

/** The folder, or the nearest one above it that exists, and its file system. */
export async function nearestFolder(folder: string): Promise<{ readonly folder: string; readonly stats: StatsFs }> {
  try {
    return { folder, stats: await statfs(folder) };
  } catch (error) {
    const parent = path.dirname(folder);
    if (parent === folder || !(hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR'))) throw error;
    return nearestFolder(parent);
  }
}
