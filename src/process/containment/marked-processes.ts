import type { Clock } from '../../clock/clock.ts';
import { type ProcessEntry, readProcessTable, readStat } from './process-table.ts';

/** A live process that some Baton started, directly or not. */
export interface MarkedProcess {
  readonly pid: number;
  readonly startTime: number;
  /** By its own marker, or where that is missing or another Baton's, by the process it was found by; null: unknown. */
  readonly runId: string | null;
}

/** The process a run began with; its session is the run's, marker or not. */
export interface SessionLeader {
  readonly pid: number;
  readonly startTime: number;
}

export interface Wanted {
  /** Whether the markers of a process make it a wanted one. */
  isMarked(entry: ProcessEntry): boolean;
  /** The first process of the run, where it is known. */
  readonly leader?: SessionLeader | undefined;
  /** Processes that an earlier search found, by key: they stay wanted when the process that led to them is gone. */
  readonly known: ReadonlyMap<string, MarkedProcess>;
  /** Keys of processes that must not be ended, from `ownLine`. */
  readonly spared: ReadonlySet<string>;
}

export interface Found {
  readonly members: readonly MarkedProcess[];
  /** Marked as well, but this process came out of them: not to be ended, and not gone either. */
  readonly spared: readonly MarkedProcess[];
}

/** A pid comes again, a pid with its start time does not. */
export function keyOf({ pid, startTime }: { readonly pid: number; readonly startTime: number }): string {
  return `${pid} ${startTime}`;
}

/**
 * Every live process with a marker of any run. A Baton that an agent works on sees that agent here too, so a caller
 * that ends processes must know their run or their daemon.
 */
export async function listMarkedProcesses(deps: { readonly clock: Clock }): Promise<MarkedProcess[]> {
  const marked: MarkedProcess[] = [];
  for (const { pid, startTime, runId } of await readProcessTable(deps.clock)) {
    if (runId !== null && pid !== process.pid && pid !== 1) marked.push({ pid, startTime, runId });
  }
  return marked;
}

/**
 * Reads the live processes once and returns the wanted ones: those with the marker, those in a session with one of them
 * or with the leader, and all their descendants, because a tool may start programs with a cleared or another
 * environment. A whole session belongs to the run: Baton starts every program in a new one, and no process can enter a
 * session from outside.
 */
export async function findProcesses(wanted: Wanted, clock: Clock): Promise<Found> {
  const table = await readProcessTable(clock);
  const spared = table.filter((entry) => wanted.spared.has(keyOf(entry)));
  const others = table.filter((entry) => !wanted.spared.has(keyOf(entry)));
  const sparedMarked = spared.filter((entry) => entry.pid !== process.pid && wanted.isMarked(entry)).map(asMarked);

  const roots = others.filter((entry) => wanted.isMarked(entry) || wanted.known.has(keyOf(entry)));
  const runOf = (entry: ProcessEntry, foundBy: string | null): string | null =>
    wanted.isMarked(entry) ? entry.runId : (wanted.known.get(keyOf(entry))?.runId ?? foundBy ?? entry.runId);
  const runOfSession = new Map(roots.map((entry) => [entry.session, runOf(entry, null)]));
  // From inside a pid namespace every session that was made outside has the number zero.
  for (const { session } of [{ session: 0 }, ...spared]) runOfSession.delete(session);
  const leaderSession = sessionOf(wanted.leader, table);
  if (leaderSession !== null) runOfSession.set(leaderSession, runOfSession.get(leaderSession) ?? null);
  const inSession = others.filter((entry) => runOfSession.has(entry.session));

  const members = new Map<number, MarkedProcess>();
  const add = (entry: ProcessEntry, foundBy: string | null): void => {
    if (!members.has(entry.pid)) members.set(entry.pid, { ...asMarked(entry), runId: runOf(entry, foundBy) });
  };
  for (const entry of roots) add(entry, null);
  for (const entry of inSession) add(entry, runOfSession.get(entry.session) ?? null);
  const childrenOf = Map.groupBy(others, (entry) => entry.parentPid);
  for (const parent of sparedMarked) {
    for (const child of childrenOf.get(parent.pid) ?? []) add(child, parent.runId);
  }
  // Iterating over a map also visits entries added meanwhile: this walks down to the last generation.
  for (const parent of members.values()) {
    for (const child of childrenOf.get(parent.pid) ?? []) add(child, parent.runId);
  }
  return { members: [...members.values()], spared: sparedMarked };
}

function asMarked({ pid, startTime, runId }: ProcessEntry): MarkedProcess {
  return { pid, startTime, runId };
}

/**
 * This process and all its ancestors. They may carry any marker: a Baton that an agent works on inherits those of the
 * agent, and a daemon that one of its own earlier agents started even its own. The processes in this line now stay
 * spared: a process only ever changes to a parent that was above it before.
 */
export function ownLine(): ReadonlySet<string> {
  const line = new Set<string>();
  const climb = (from: number): void => {
    for (let pid = from; pid > 0; ) {
      const stat = readStat(pid);
      if (stat === null) return;
      line.add(keyOf({ pid, startTime: stat.startTime }));
      pid = stat.parentPid;
    }
  };
  climb(process.pid);
  // Not always reached: a parent may be hidden from us, or in another namespace.
  climb(1);
  return line;
}

/** A session outlives its leader and keeps the number from reuse. Once it is empty, another may have the number. */
function sessionOf(leader: SessionLeader | undefined, table: readonly ProcessEntry[]): number | null {
  if (leader === undefined) return null;
  const holder = table.find((entry) => entry.pid === leader.pid);
  return holder === undefined || holder.startTime === leader.startTime ? leader.pid : null;
}
