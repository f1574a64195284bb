import { readStat } from './process-table.ts';

/** A process that Baton started, as it was recorded. */
export interface KnownProcess {
  readonly pid: number;
  /** Null where the platform does not report it. */
  readonly startTime: number | null;
}

/**
 * Whether this very process lives: another one with its pid does not count, nor does one that has ended and waits to be
 * collected. Where the kernel says nothing (no /proc, or hidden from us), the process counts as alive while its pid is
 * in use: to take a live agent for a dead one would be worse. Start times hold for one boot only.
 */
export function isAlive({ pid, startTime }: KnownProcess): boolean {
  // Zero and below are names of groups, not of processes.
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
