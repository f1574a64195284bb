import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, sleep } from '../../clock/clock.ts';
import { sharedRead } from '../shared-read.ts';

/** The variable that every child carries, and that its own children inherit: whose run it is. */
export const runMarker = 'BATON_RUN_ID';

/** The second one: whose daemon it is; the same after each restart. */
export const daemonMarker = 'BATON_DAEMON_ID';

/** A live process, from /proc. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly session: number;
  /** Clock ticks since boot. A pid comes again, a pid with the same start time does not. */
  readonly startTime: number;
  /** The value of its run marker, null without one or when it may not be read. */
  readonly runId: string | null;
  /** The same of its daemon marker. */
  readonly daemonId: string | null;
}

/** The kernel's facts about every process, dead ones that are not collected yet included. */
interface ProcessStat {
  readonly isDead: boolean;
  /** Its first thread has ended; the process lives while other threads do. */
  readonly isHeadless: boolean;
  readonly parentPid: number;
  readonly session: number;
  readonly startTime: number;
}

/**
 * Reading a process takes about 20 µs, and reads in one go take a quarter of the time of piecemeal ones. After this
 * many, other work may run.
 */
const readInOneGo = 128;

/**
 * All live processes. Markers are read wherever the kernel lets us: of our own user, and as root of every user, because
 * an agent run by root may start processes under other users. Empty where there is no /proc.
 *
 * Shared: when many runs end together, each of them wants to read the table.
 */
export function readProcessTable(clock: Clock): Promise<readonly ProcessEntry[]> {
  const read = readers.get(clock) ?? sharedRead(() => readNow(clock));
  readers.set(clock, read);
  return read();
}

/** By clock, because a read waits on it. */
const readers = new WeakMap<Clock, () => Promise<readonly ProcessEntry[]>>();

async function readNow(clock: Clock): Promise<readonly ProcessEntry[]> {
  const pids = listNumbers('/proc');
  const entries: ProcessEntry[] = [];
  for (let from = 0; from < pids.length; from += readInOneGo) {
    if (from > 0) await sleep(clock, 0);
    entries.push(...pids.slice(from, from + readInOneGo).flatMap((pid) => readProcess(pid) ?? []));
  }
  return entries;
}

/**
 * The start time of a process, null when it is gone or the platform does not report it. Read at once: pids are reused.
 */
export function startTimeOf(pid: number): number | null {
  return readStat(pid)?.startTime ?? null;
}

/** Null when the process is gone, is hidden from us, or the platform does not report it. */
export function readStat(pid: number): ProcessStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

function readProcess(pid: number): ProcessEntry | null {
  const stat = readStat(pid);
  if (stat === null || stat.isDead) return null;
  const { parentPid, session, startTime } = stat;
  const variables = environmentOf(pid, stat.isHeadless);
  const markers = { runId: markerIn(runMarker, variables), daemonId: markerIn(daemonMarker, variables) };
  return { pid, parentPid, session, startTime, ...markers };
}

/**
 * proc(5): `pid (name) state ppid pgrp session …`, field 20 is the number of threads, field 22 the start time. The name
 * may hold spaces and `)`. A process whose first thread has ended is shown as a zombie though the others work on.
 */
function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const isHeadless = fields[0] === 'Z' && Number(fields[17]) > 1;
  return {
    isHeadless,
    isDead: fields[0] === 'X' || (fields[0] === 'Z' && !isHeadless),
    parentPid: Number(fields[1]),
    session: Number(fields[3]),
    startTime: Number(fields[19]),
  };
}

/** Empty for another user's, and for a process that hides itself (ssh-agent); its session or parent may identify it. */
function environmentOf(pid: number, isHeadless: boolean): readonly string[] {
  if (!isHeadless) return readVariables(`/proc/${pid}/environ`);
  // A thread that has ended shows no environment; each of the others shows that of the process.
  const thread = listNumbers(`/proc/${pid}/task`).find((each) => each !== pid);
  return readVariables(`/proc/${pid}/task/${thread}/environ`);
}

function readVariables(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function markerIn(name: string, variables: readonly string[]): string | null {
  return variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1) || null;
}

function listNumbers(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}
