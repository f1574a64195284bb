import type { Settings } from '../settings.ts';
import type { SkipReason } from './eligibility.ts';

/** The headroom of the machine, in megabytes. Null is unknown, and refuses nothing. */
export interface Headroom {
  /** The folders that grow: where the workspaces are, and where Baton keeps its state. */
  readonly disk: readonly { readonly folder: string; readonly freeMb: number | null }[];
  readonly memoryMb: number | null;
}

/** Why nothing new may start for lack of disk or memory. A floor of 0 means no floor. */
export function whyNoHeadroom(
  room: Headroom,
  { workspace, agent }: Pick<Settings, 'workspace' | 'agent'>,
): SkipReason | null {
  const { minFreeDiskMb } = workspace;
  const full = room.disk.find(({ freeMb }) => freeMb !== null && freeMb < minFreeDiskMb);
  if (full !== undefined) {
    const what = `only ${full.freeMb} MB of disk are free below ${full.folder}`;
    return { code: 'no_headroom', text: `${what}; workspace.min_free_disk_mb is ${minFreeDiskMb}` };
  }
  const { memoryMb } = room;
  if (memoryMb === null || memoryMb >= agent.minFreeMemoryMb) return null;
  const what = `only ${memoryMb} MB of memory are free`;
  return { code: 'no_headroom', text: `${what}; agent.min_free_memory_mb is ${agent.minFreeMemoryMb}` };
}
