import { type Clock, sleep } from '../../clock/clock.ts';
import { findProcesses, keyOf, type MarkedProcess, ownLine, type SessionLeader } from './marked-processes.ts';
import type { ProcessEntry } from './process-table.ts';
import { signalProcess } from './send-signal.ts';

export interface SweepOptions {
  /** How long they have between TERM and KILL; with zero there is no TERM. */
  readonly graceMs?: number | undefined;
  /** The first process of the run, where it is known. */
  readonly leader?: SessionLeader | undefined;
  /** Processes that `lookForRun` found before: wanted too, though the process that led to them may be gone by now. */
  readonly known?: readonly MarkedProcess[] | undefined;
}

export interface SweepReport {
  /** Processes that were found and are gone. */
  readonly ended: number;
  /** How many are still alive, for any reason. Not zero: no other run may replace the run. */
  readonly left: number;
}

/** Ends everything that is left of a run. */
export async function sweepRun(
  runId: string,
  deps: { readonly clock: Clock },
  options: SweepOptions = {},
): Promise<SweepReport> {
  const { ended, left } = await sweep({ isMarked: (entry) => entry.runId === runId, ...options }, deps.clock);
  return { ended, left: left.length };
}

/**
 * The current processes of a run. For a caller that is about to end its first process: a descendant without a marker
 * that left the session is found only while its parent lives.
 */
export async function lookForRun(
  runId: string,
  deps: { readonly clock: Clock },
  leader?: SessionLeader,
): Promise<readonly MarkedProcess[]> {
  const look = {
    isMarked: (entry: ProcessEntry) => entry.runId === runId,
    leader,
    known: new Map(),
    spared: ownLine(),
  };
  return (await findProcesses(look, deps.clock)).members;
}

/**
 * Ends every process that any earlier start of this daemon left behind, even those that the store does not know, and
 * none of another daemon. For the start of a daemon, before it starts anything itself: later it
 * would end its own agents.
 *
 * A process that is left may be alive; no run that it names may be inherited. An agent from which this daemon was
 * started is never ended, so it is left.
 */
export function sweepDaemon(
  daemonId: string,
  deps: { readonly clock: Clock },
  options: { readonly graceMs?: number } = {},
): Promise<Swept> {
  return sweep({ isMarked: (entry) => entry.daemonId === daemonId, graceMs: options.graceMs }, deps.clock);
}

/**
 * Ends several runs without asking them first, all in the same sweep: for a daemon that must have its agents dead
 * before its lease ends, and has no time for the ladder. Takes at most five seconds, then reports the processes that
 * are left.
 */
export function endRunsAtOnce(runIds: Iterable<string>, deps: { readonly clock: Clock }): Promise<Swept> {
  const wanted = new Set(runIds);
  return sweep({ isMarked: ({ runId }) => runId !== null && wanted.has(runId), graceMs: 0 }, deps.clock);
}

interface SweepOrder extends SweepOptions {
  isMarked(entry: ProcessEntry): boolean;
}

export interface Swept {
  /** Processes that were found and are gone. */
  readonly ended: number;
  /**
   * Processes that are still there: ours to see but not to end, stuck in the kernel, multiplying too fast, or such that
   * this process came out of.
   */
  readonly left: readonly MarkedProcess[];
}

const defaultGraceMs = 1000;

/** How long after the first KILL the sweep keeps checking before it reports the processes that are left. */
const killPatienceMs = 5000;

const lookAgainMs = 2;

/**
 * Ends marked processes: TERM once to each process, KILL after the grace, again and again until two checks in a row
 * find nothing. One check is not enough: in the middle of an `exec` a process shows no environment. A process that was
 * found once stays wanted until it is gone: a child without a marker may ignore the TERM that ends the parent it was
 * found by. Never ends this process or one of its ancestors, even if they carry the marker.
 */
async function sweep(order: SweepOrder, clock: Clock): Promise<Swept> {
  const found = new Map<string, MarkedProcess>();
  const known = new Map(order.known?.map((each) => [keyOf(each), each]));
  const wanted = { isMarked: order.isMarked, leader: order.leader, known, spared: ownLine() };
  const killFrom = clock.monotonic() + (order.graceMs ?? defaultGraceMs);
  let emptyLooks = 0;
  let members: readonly MarkedProcess[] = [];
  let spared: readonly MarkedProcess[] = [];
  while (emptyLooks < 2 && clock.monotonic() < killFrom + killPatienceMs) {
    ({ members, spared } = await findProcesses(wanted, clock));
    emptyLooks = members.length === 0 ? emptyLooks + 1 : 0;
    const newcomers = signalAll(members, found, clock.monotonic() >= killFrom);
    for (const [key, member] of found) known.set(key, member);
    // While processes multiply, the next check follows at once.
    if (emptyLooks < 2 && newcomers === 0) await sleep(clock, lookAgainMs);
  }
  return { ended: found.size - members.length, left: [...members, ...spared] };
}

/** TERM to those not seen before, KILL to all when the grace has passed. Returns how many were new. */
function signalAll(members: readonly MarkedProcess[], found: Map<string, MarkedProcess>, killNow: boolean): number {
  let newcomers = 0;
  for (const target of members) {
    const key = keyOf(target);
    const isNew = !found.has(key);
    found.set(key, target);
    if (isNew) newcomers += 1;
    if (killNow || isNew) signalProcess(target, killNow ? 'SIGKILL' : 'SIGTERM');
  }
  return newcomers;
}
