import { readlinkSync } from 'node:fs';
import type { Clock } from '../../clock/clock.ts';
import { type ProcessEntry, readProcessTable } from './process-table.ts';

/**
 * Whether this process descends from a run of any Baton: it, one of its ancestors, or a process in a session with those
 * carries a marker. Its own environment alone says little, because it is easily cleared. False where there is no /proc.
 */
export async function isInsideRun(clock: Clock): Promise<boolean> {
  const table = await readProcessTable(clock);
  const line = lineOf(new Map(table.map((entry) => [entry.pid, entry])));
  const sessions = new Set(line.map(({ session }) => session));
  // From inside a pid namespace every session that was made outside has the number zero.
  sessions.delete(0);
  return table.some(
    (entry) => (line.includes(entry) || sessions.has(entry.session)) && (entry.runId ?? entry.daemonId) !== null,
  );
}

/** This process, its parent, and so on up. */
function lineOf(table: ReadonlyMap<number, ProcessEntry>): readonly ProcessEntry[] {
  const line: ProcessEntry[] = [];
  let entry = table.get(ownPid());
  // The table is read piece by piece, and a pid may come again meanwhile: it must not lead round in a circle.
  while (entry !== undefined && !line.includes(entry)) {
    line.push(entry);
    entry = table.get(entry.parentPid);
  }
  return line;
}

/** As this /proc numbers it, which may be that of a namespace further out. */
function ownPid(): number {
  try {
    return Number(readlinkSync('/proc/self'));
  } catch {
    return process.pid;
  }
}
