import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, sleep } from '../clock/clock.ts';

/** The variable that every child carries, and that its own children inherit. */
export const runMarker = 'BATON_RUN_ID';

/** A live process as /proc tells it. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly session: number;
  /** Clock ticks since boot. A pid comes again, a pid with the same start time does not. */
  readonly startTime: number;
  /** The value of its run marker, null without one or when it may not be read. */
  readonly runId: string | null;
}

/** A process takes about 20 µs to read, in one go a quarter of what it takes piecemeal; after so many others may run. */
const readInOneGo = 128;

/**
 * All live processes. Markers are read wherever the kernel lets us: of our own user, and as root of everybody, for an
 * agent run by root may start things under other users. Empty where there is no /proc.
 */
export async function readProcessTable(clock: Clock): Promise<ProcessEntry[]> {
  const pids = listPids();
  const entries: ProcessEntry[] = [];
  for (let from = 0; from < pids.length; from += readInOneGo) {
    if (from > 0) await sleep(clock, 0);
    entries.push(...pids.slice(from, from + readInOneGo).flatMap((pid) => readProcess(pid) ?? []));
  }
  return entries;
}

/** The start time of a process, null when it is gone or the platform does not tell. Asked at once: pids are reused. */
export function startTimeOf(pid: number): number | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8')).startTime;
  } catch {
    return null;
  }
}

function listPids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

function readProcess(pid: number): ProcessEntry | null {
  try {
    const { isDead, ...stat } = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return isDead ? null : { pid, ...stat, runId: markerOf(pid) };
  } catch {
    return null; // Gone meanwhile.
  }
}

/** proc(5): `pid (name) state ppid pgrp session …`, field 22 is the start time. The name may hold spaces and `)`. */
function parseStat(text: string): { isDead: boolean; parentPid: number; session: number; startTime: number } {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    isDead: fields[0] === 'Z' || fields[0] === 'X',
    parentPid: Number(fields[1]),
    session: Number(fields[3]),
    startTime: Number(fields[19]),
  };
}

function markerOf(pid: number): string | null {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const marker = variables.find((variable) => variable.startsWith(`${runMarker}=`));
    return marker === undefined ? null : marker.slice(runMarker.length + 1);
  } catch {
    return null; // Somebody else's, or a process that hides itself (ssh-agent); its session or parent may tell.
  }
}
