import { type Clock, sleep } from '../../clock/clock.ts';
import { findProcesses, keyOf, type MarkedProcess, ownAncestry, type SessionLeader } from './marked-processes.ts';
import type { ProcessEntry } from './process-table.ts';
import { signalProcess } from './send-signal.ts';

export interface SweepOptions {
  /** The time between TERM and KILL; with zero there is no TERM. */
  readonly graceMs?: number | undefined;
  /** The first process of the run, where it is known. */
  readonly leader?: SessionLeader | undefined;
  /** Processes that `findRunProcesses` found earlier. They are ended too, even if the parent that led to them is gone. */
  readonly known?: readonly MarkedProcess[] | undefined;
}

export interface SweepReport {
  /** Processes that were found and have ended. */
  readonly ended: number;
  /** How many are still alive, for any reason. While this is not zero, no other run may replace this one. */
  readonly left: number;
}

/** Ends all remaining processes of a run. */
export async function sweepRun(
  runId: string,
  deps: { readonly clock: Clock },
  options: SweepOptions = {},
): Promise<SweepReport> {
  const { ended, left } = await sweep({ isMarked: (entry) => entry.runId === runId, ...options }, deps.clock);
  return { ended, left: left.length };
}

/**
 * The current processes of a run. Call it before ending the first process of the run: a descendant without a marker
 * that left the session can be found only while its parent is alive.
 */
export async function findRunProcesses(
  runId: string,
  deps: { readonly clock: Clock },
  leader?: SessionLeader,
): Promise<readonly MarkedProcess[]> {
  const wanted = {
    isMarked: (entry: ProcessEntry) => entry.runId === runId,
    leader,
    known: new Map(),
    spared: ownAncestry(),
  };
  return (await findProcesses(wanted, deps.clock)).members;
}

/**
 * Ends every process that previous daemons with this id left behind, even those that the store does not know, and no
 * process of another daemon. A daemon calls it before it starts anything itself: later it would end its own agents.
 *
 * The runs of processes that are left may still be alive, so they must not be inherited. If an agent started this
 * daemon, that agent is never ended and counts as left.
 */
export function sweepDaemon(
  daemonId: string,
  deps: { readonly clock: Clock },
  options: { readonly graceMs?: number } = {},
): Promise<Swept> {
  return sweep({ isMarked: (entry) => entry.daemonId === daemonId, graceMs: options.graceMs }, deps.clock);
}

/**
 * Kills several runs in one sweep, without TERM: for a daemon whose agents must be dead before its lease ends, when
 * there is no time for the ladder. Takes about five seconds at most, then reports the processes that are left.
 */
export function endRunsAtOnce(runIds: Iterable<string>, deps: { readonly clock: Clock }): Promise<Swept> {
  const wanted = new Set(runIds);
  return sweep({ isMarked: ({ runId }) => runId !== null && wanted.has(runId), graceMs: 0 }, deps.clock);
}

interface SweepOrder extends SweepOptions {
  isMarked(entry: ProcessEntry): boolean;
}

export interface Swept {
  /** Processes that were found and have ended. */
  readonly ended: number;
  /**
   * Processes that are still alive: Baton may see but not signal them, they are stuck in the kernel, they multiply too
   * fast, or they are ancestors of this process.
   */
  readonly left: readonly MarkedProcess[];
}

const defaultGraceMs = 1000;

/** How long after the first KILL the sweep keeps checking before it reports the processes that are left. */
const killPatienceMs = 5000;

/** The most of that time that one check uses up: a machine that stood still gave the processes no time to end. */
const longestCheckMs = 100;

const checkAgainAfterMs = 2;

/**
 * Ends marked processes: TERM once to each, KILL after the grace period, repeated until two checks in a row find
 * nothing. One check is not enough, because a process shows no environment in the middle of an `exec`. The sweep
 * remembers each process that it found: a child without a marker may ignore TERM and outlive the parent through which
 * it was found. Never ends this process or one of its ancestors, even if they carry the marker.
 */
async function sweep(order: SweepOrder, clock: Clock): Promise<Swept> {
  const found = new Map<string, MarkedProcess>();
  const known = new Map(order.known?.map((each) => [keyOf(each), each]));
  const wanted = { isMarked: order.isMarked, leader: order.leader, known, spared: ownAncestry() };
  const killFrom = clock.monotonic() + (order.graceMs ?? defaultGraceMs);
  let emptyChecks = 0;
  let patienceMs = killPatienceMs;
  let members: readonly MarkedProcess[] = [];
  let spared: readonly MarkedProcess[] = [];
  while (emptyChecks < 2 && patienceMs > 0) {
    const checkFrom = clock.monotonic();
    ({ members, spared } = await findProcesses(wanted, clock));
    emptyChecks = members.length === 0 ? emptyChecks + 1 : 0;
    const killNow = clock.monotonic() >= killFrom;
    const newcomers = signalAll(members, found, killNow);
    for (const [key, member] of found) known.set(key, member);
    // While processes multiply, the next check follows at once.
    if (emptyChecks < 2 && newcomers === 0) await sleep(clock, checkAgainAfterMs);
    if (killNow) patienceMs -= Math.min(clock.monotonic() - checkFrom, longestCheckMs);
  }
  return { ended: found.size - members.length, left: [...members, ...spared] };
}

/** Sends TERM to processes not seen before, or KILL to all of them with `killNow`. Returns how many were new. */
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
