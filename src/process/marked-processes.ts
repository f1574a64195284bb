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
  const found = new Set(table.filter((entry) => entry.runId === runId || inSession(entry, leader)));
  // A set shows its loop also what is added meanwhile: this walks down to the last generation.
  for (const parent of found) {
    for (const entry of table) if (entry.parentPid === parent.pid) found.add(entry);
  }
  return [...found];
}

/** A session outlives its leader and keeps its number from reuse; a later session of that number began later. */
function inSession(entry: ProcessEntry, leader: SessionLeader | undefined): boolean {
  if (leader === undefined || entry.session !== leader.pid) return false;
  return entry.pid === leader.pid ? entry.startTime === leader.startTime : entry.startTime >= leader.startTime;
}

function mayBeEnded(pid: number): boolean {
  return pid !== process.pid && pid !== 1;
}
