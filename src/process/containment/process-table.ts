import { readdirSync, readFileSync } from 'node:fs';
import { type Clock, sleep } from '../../clock/clock.ts';
import { sharedRead } from '../shared-read.ts';

/** The variable with the run id. Every child gets it, and its own children inherit it. */
export const runMarker = 'BATON_RUN_ID';

/** The variable with the daemon id, which stays the same after each restart. */
export const daemonMarker = 'BATON_DAEMON_ID';

/** A live process, from /proc. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly session: number;
  /** Clock ticks since boot. A pid is reused, but not with the same start time. */
  readonly startTime: number;
  /** The value of its run marker; null if it has none or Baton may not read it. */
  readonly runId: string | null;
  /** The value of its daemon marker, in the same way. */
  readonly daemonId: string | null;
}

/** The kernel's facts about a process, which may be a zombie. */
interface ProcessStat {
  readonly isDead: boolean;
  /** Its first thread has ended, but other threads are alive. */
  readonly isHeadless: boolean;
  /** A thread of the kernel has no environment. */
  readonly isKernel: boolean;
  readonly parentPid: number;
  readonly session: number;
  readonly startTime: number;
}

/**
 * Reading a process takes about 20 µs; reading one by one, with a pause after each, takes four times as long. After
 * this many, the event loop runs other work.
 */
const processesPerBatch = 128;

/**
 * All live processes, with markers where the kernel allows reading them: for processes of the same user, and as root
 * for every process, because an agent run by root may start processes as other users. Empty where there is no /proc.
 *
 * Callers share a read: when many runs end together, each of them asks for the table.
 */
export function readProcessTable(clock: Clock): Promise<readonly ProcessEntry[]> {
  const read = readers.get(clock) ?? sharedRead(() => readNow(clock));
  readers.set(clock, read);
  return read();
}

/** One per clock, because a read waits on its clock. */
const readers = new WeakMap<Clock, () => Promise<readonly ProcessEntry[]>>();

async function readNow(clock: Clock): Promise<readonly ProcessEntry[]> {
  const pids = listNumbers('/proc');
  const entries: ProcessEntry[] = [];
  for (let from = 0; from < pids.length; from += processesPerBatch) {
    if (from > 0) await sleep(clock, 0);
    entries.push(...pids.slice(from, from + processesPerBatch).flatMap((pid) => readProcess(pid) ?? []));
  }
  return entries;
}

/**
 * The start time of a process; null when it is gone or the platform does not report it. Synchronous, because pids are
 * reused.
 */
export function startTimeOf(pid: number): number | null {
  return readStat(pid)?.startTime ?? null;
}

/** Null when the process is gone or hidden, or the platform does not report it. */
export function readStat(pid: number): ProcessStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/**
 * A child of Baton is in the session of its parent until it has one of its own, and gets its markers after that. So the
 * session of a marked process is read after its markers: otherwise all programs in the session of a Baton could pass for
 * agents while it starts one.
 */
function readProcess(pid: number): ProcessEntry | null {
  const first = readStat(pid);
  if (first === null || first.isDead) return null;
  const variables = first.isKernel ? '' : environmentOf(pid, first.isHeadless);
  const markers = { runId: markerIn(runMarker, variables), daemonId: markerIn(daemonMarker, variables) };
  const isMarked = (markers.runId ?? markers.daemonId) !== null;
  const stat = isMarked ? readStat(pid) : first;
  if (stat === null || stat.isDead) return null;
  const { parentPid, session, startTime } = stat;
  return { pid, parentPid, session, startTime, ...markers };
}

/**
 * proc(5): `pid (name) state ppid pgrp session …`, field 9 has the flags, field 20 is the number of threads, field 22 the
 * start time. The name may contain spaces and `)`. A process whose first thread has ended is shown as a zombie while other threads run.
 */
function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const isHeadless = fields[0] === 'Z' && Number(fields[17]) > 1;
  return {
    isHeadless,
    isKernel: (Number(fields[6]) & kernelThread) !== 0,
    isDead: fields[0] === 'X' || (fields[0] === 'Z' && !isHeadless),
    parentPid: Number(fields[1]),
    session: Number(fields[3]),
    startTime: Number(fields[19]),
  };
}

/** `PF_KTHREAD` of the kernel's `sched.h`. */
const kernelThread = 0x0020_0000;

/** Empty for a process of another user, and for one that hides its environment (ssh-agent). */
function environmentOf(pid: number, isHeadless: boolean): string {
  if (!isHeadless) return readVariables(`/proc/${pid}/environ`);
  // A thread that has ended shows no environment. Every other thread shows that of the process.
  const thread = listNumbers(`/proc/${pid}/task`).find((each) => each !== pid);
  return readVariables(`/proc/${pid}/task/${thread}/environ`);
}

/** The variables as the kernel shows them, each with a NUL before it. */
function readVariables(file: string): string {
  try {
    return `\0${readFileSync(file, 'latin1')}`;
  } catch {
    return '';
  }
}

/** A marker is ASCII. */
function markerIn(name: string, variables: string): string | null {
  const at = variables.indexOf(`\0${name}=`);
  if (at < 0) return null;
  const from = at + name.length + 2;
  const end = variables.indexOf('\0', from);
  return variables.slice(from, end < 0 ? undefined : end) || null;
}

function listNumbers(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}
