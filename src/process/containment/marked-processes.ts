import type { Clock } from '../../clock/clock.ts';
import { type ProcessEntry, readProcessTable, readStat } from './process-table.ts';

/** A live process that some Baton started, directly or not. */
export interface MarkedProcess {
  readonly pid: number;
  readonly startTime: number;
  /**
   * From its own marker. If that is missing or belongs to another Baton, from the process through which it was found.
   * Null when unknown.
   */
  readonly runId: string | null;
}

/** The first process of a run. Everything in its session belongs to the run, with or without a marker. */
export interface SessionLeader {
  readonly pid: number;
  readonly startTime: number;
}

export interface Wanted {
  /** Whether the markers of a process make it one of the wanted processes. */
  isMarked(entry: ProcessEntry): boolean;
  /** The first process of the run, where it is known. */
  readonly leader?: SessionLeader | undefined;
  /** Processes that an earlier search found, by key. They stay wanted when the parent that led to them is gone. */
  readonly known: ReadonlyMap<string, MarkedProcess>;
  /** Keys of processes that must not be ended, from `ownAncestry`. */
  readonly spared: ReadonlySet<string>;
}

export interface Found {
  readonly members: readonly MarkedProcess[];
  /** Marked processes that are ancestors of this one: alive, and not to be ended. */
  readonly spared: readonly MarkedProcess[];
}

/** A pid is reused, but not with the same start time. */
export function keyOf({ pid, startTime }: { readonly pid: number; readonly startTime: number }): string {
  return `${pid} ${startTime}`;
}

/**
 * Every live process with a marker of any run. If Baton itself runs inside an agent, that agent is listed too, so a
 * caller that ends processes must check their run or their daemon.
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
 * or with the leader, and all their descendants, because a tool may start programs with a cleared or changed
 * environment. A session belongs to the run as a whole: Baton starts every program in a new session, and no process can
 * join one from outside.
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
 * This process and all its ancestors. They may carry any marker: a Baton inside an agent inherits the markers of that
 * agent, and a daemon that one of its own earlier agents started even carries its own. The set need not be read again
 * later: when a parent ends, the kernel moves a process only to another of its ancestors.
 */
export function ownAncestry(): ReadonlySet<string> {
  const ancestry = new Set<string>();
  const climb = (from: number): void => {
    for (let pid = from; pid > 0; ) {
      const stat = readStat(pid);
      if (stat === null) return;
      ancestry.add(keyOf({ pid, startTime: stat.startTime }));
      pid = stat.parentPid;
    }
  };
  climb(process.pid);
  // The first climb may not reach pid 1: a parent may be hidden, or in another namespace.
  climb(1);
  return ancestry;
}

/** A session outlives its leader and keeps its number in use. Once the session is empty, the number may be reused. */
function sessionOf(leader: SessionLeader | undefined, table: readonly ProcessEntry[]): number | null {
  if (leader === undefined) return null;
  const holder = table.find((entry) => entry.pid === leader.pid);
  return holder === undefined || holder.startTime === leader.startTime ? leader.pid : null;
}
