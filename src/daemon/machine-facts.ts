import { statSync } from 'node:fs';
import path from 'node:path';
import type { Headroom } from '../core/dispatch/headroom.ts';
import type { Settings } from '../core/settings.ts';
import { freeMemoryMb } from '../process/free-memory.ts';
import { freeDiskMb } from '../workspace/free-disk.ts';

/**
 * When `.baton/last-activity` next to the workflow file was last touched. A script, an editor or a git hook touches it
 * to say that people are at work, so that an adaptive Baton polls at its fast pace. Null when there is no such file.
 */
export function lastTouch(workflowPath: string): () => number | null {
  const file = path.join(path.dirname(workflowPath), '.baton', 'last-activity');
  return () => {
    try {
      return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
    } catch {
      // A folder that cannot be read counts as no activity.
      return null;
    }
  };
}

/** The headroom: free disk and memory for new work. Measures nothing where a floor is switched off. Never rejects. */
export async function readHeadroom({ workspace, agent }: Settings, stateDir: string): Promise<Headroom> {
  const folders = workspace.minFreeDiskMb === 0 ? [] : [...new Set([workspace.root, stateDir])];
  const disk = folders.map(async (folder) => ({ folder, freeMb: await freeDiskMb(folder) }));
  return { disk: await Promise.all(disk), memoryMb: agent.minFreeMemoryMb === 0 ? null : await freeMemoryMb() };
}
