import type { Clock } from '../clock/clock.ts';
import { type ProcessEntry, readProcessTable } from './process-table.ts';

/** A live process that some Baton started, directly or not. */
export interface MarkedProcess {
  readonly pid: number;
  readonly startTime: number;
  readonly runId: string;
}

/** The process a run began with; its session is the run's, marker or not. */
export interface SessionLeader {
  readonly pid: number;
  readonly startTime: number;
}

/**
 * Every live process with a run marker, whatever the run: what recovery after a crash compares with its store. A Baton
 * that is itself worked on by an agent sees that agent here too, so whoever ends processes must know their run.
 */
export async function listMarkedProcesses(deps: { readonly clock: Clock }): Promise<MarkedProcess[]> {
  const marked: MarkedProcess[] = [];
  for (const { pid, startTime, runId } of await readProcessTable(deps.clock)) {
    if (runId !== null && mayBeEnded(pid)) marked.push({ pid, startTime, runId });
  }
  return marked;
}

/**
 * The live processes of one run: those with its marker, those in the session of its leader, and all their
 * descendants, for a tool may start programs with a cleared or another environment.
 */
export async function processesOfRun(runId: string, clock: Clock, leader?: SessionLeader): Promise<ProcessEntry[]> {
  const table = (await readProcessTable(clock)).filter((entry) => mayBeEnded(entry.pid));
  const session = sessionOf(leader, table);
  const found = new Set(table.filter((entry) => entry.runId === runId || entry.session === session));
  // A set shows its loop also what is added meanwhile: this walks down to the last generation.
  for (const parent of found) {
    for (const entry of table) if (entry.parentPid === parent.pid) found.add(entry);
  }
  return [...found];
}

/** A session outlives its leader and keeps the number from reuse. Once it is empty, another may have the number. */
function sessionOf(leader: SessionLeader | undefined, table: readonly ProcessEntry[]): number | null {
  if (leader === undefined) return null;
  const holder = table.find((entry) => entry.pid === leader.pid);
  return holder === undefined || holder.startTime === leader.startTime ? leader.pid : null;
}

function mayBeEnded(pid: number): boolean {
  return pid !== process.pid && pid !== 1;
}
