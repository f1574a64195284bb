import { readlinkSync } from 'node:fs';
import type { Clock } from '../../clock/clock.ts';
import { type ProcessEntry, readProcessTable } from './process-table.ts';

/**
 * The run that this process descends from, of any Baton: it, one of its ancestors, or a process in a session with those
 * carries a marker. Its own environment alone says little, because it is easily cleared. Null outside of runs, and where
 * there is no /proc.
 */
export async function findOwnRun(clock: Clock): Promise<string | null> {
  const table = await readProcessTable(clock);
  const ancestry = ancestryIn(new Map(table.map((entry) => [entry.pid, entry])));
  const sessions = new Set(ancestry.map(({ session }) => session));
  // From inside a pid namespace every session that was made outside has the number zero.
  sessions.delete(0);
  const around = [...ancestry, ...table.filter(({ session }) => sessions.has(session))];
  const marked = around.find(({ runId, daemonId }) => (runId ?? daemonId) !== null);
  return marked === undefined ? null : (marked.runId ?? 'unknown');
}

/** This process and its ancestors. */
function ancestryIn(table: ReadonlyMap<number, ProcessEntry>): readonly ProcessEntry[] {
  const ancestry: ProcessEntry[] = [];
  let entry = table.get(ownPid());
  // The table is read piece by piece, and a reused pid could make the chain of parents a cycle.
  while (entry !== undefined && !ancestry.includes(entry)) {
    ancestry.push(entry);
    entry = table.get(entry.parentPid);
  }
  return ancestry;
}

/** The pid in this /proc, which may belong to an outer pid namespace. */
function ownPid(): number {
  try {
    return Number(readlinkSync('/proc/self'));
  } catch {
    return process.pid;
  }
}
