import { type Clock, sleep } from '../../clock/clock.ts';
import { findProcesses, keyOf, type MarkedProcess, ownLine, type SessionLeader } from './marked-processes.ts';
import type { ProcessEntry } from './process-table.ts';
import { signalProcess } from './send-signal.ts';

/** Whom to end, and with how much patience. */
export interface SweepOrder {
  isMarked(entry: ProcessEntry): boolean;
  readonly leader?: SessionLeader | undefined;
  /** Found by an earlier look: wanted too, though what they were found by may be gone by now. */
  readonly known?: readonly MarkedProcess[] | undefined;
  /** How long they have between TERM and KILL; with zero there is no TERM. */
  readonly graceMs?: number | undefined;
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

/** How long after the first KILL the sweep goes on looking before it reports what is left. */
const killPatienceMs = 5000;

/** The pause between two looks. */
const lookAgainMs = 2;

/**
 * Ends what is marked: TERM once to each process, KILL after the grace, again and again until two looks in a row find
 * nothing. One look is not enough: in the middle of an `exec` a process shows no environment. What was found once is
 * wanted until it is gone: a child without a marker may be deaf to the TERM that ends the parent it was found by.
 * Never ends this process, nor one that it came out of, whatever their markers.
 */
export async function sweep(order: SweepOrder, clock: Clock): Promise<Swept> {
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
    // Where something multiplies, the next look comes at once.
    if (emptyLooks < 2 && newcomers === 0) await sleep(clock, lookAgainMs);
  }
  return { ended: found.size - members.length, left: [...members, ...spared] };
}

/** TERM to those not seen before, KILL to all when the grace is over. Returns how many were new. */
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
