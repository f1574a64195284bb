import type { RoomLeft } from '../core/dispatch/headroom.ts';
import type { Settings } from '../core/settings.ts';
import { freeMemoryMb } from '../process/free-memory.ts';
import { freeDiskMb } from '../workspace/free-disk.ts';

/** What is left of disk and memory for new work. Where a floor is switched off nothing is asked. Never rejects. */
export async function roomLeft({ workspace, agent }: Settings, stateDir: string): Promise<RoomLeft> {
  const folders = workspace.minFreeDiskMb === 0 ? [] : [...new Set([workspace.root, stateDir])];
  const disk = folders.map(async (folder) => ({ folder, freeMb: await freeDiskMb(folder) }));
  return { disk: await Promise.all(disk), memoryMb: agent.minFreeMemoryMb === 0 ? null : await freeMemoryMb() };
}
