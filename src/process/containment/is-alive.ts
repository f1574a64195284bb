import { readStat } from './process-table.ts';

/** The record of a process that Baton started. */
export interface KnownProcess {
  readonly pid: number;
  /** Null where the platform does not report it. */
  readonly startTime: number | null;
}

/**
 * Whether this process is alive. A later process with the same pid does not count, nor does a zombie. Where the kernel
 * says nothing (no /proc, or the process is hidden), the process counts as alive while its pid is in use: to mistake a
 * live agent for a dead one would be worse than the reverse. Start times are valid for one boot only.
 */
export function isAlive({ pid, startTime }: KnownProcess): boolean {
  // Zero and negative numbers address process groups.
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  const stat = readStat(pid);
  if (stat === null) return isPidTaken(pid);
  return !stat.isDead && (startTime === null || stat.startTime === startTime);
}

function isPidTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
