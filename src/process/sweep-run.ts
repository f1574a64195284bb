import { type Clock, sleep } from '../clock/clock.ts';
import { processesOfRun, type SessionLeader } from './marked-processes.ts';
import type { ProcessEntry } from './process-table.ts';
import { signalProcess } from './send-signal.ts';

export interface SweepOptions {
  /** How long survivors have between TERM and KILL. */
  readonly graceMs?: number;
  /** The first process of the run, where it is known. */
  readonly leader?: SessionLeader;
}

export interface SweepReport {
  /** Processes that were found and are gone. */
  readonly ended: number;
  /** Processes that are still there: ours to see but not to end, stuck in the kernel, or multiplying too fast. */
  readonly left: number;
}

const defaultGraceMs = 1000;

/** How long after the first KILL the sweep goes on looking before it reports what is left. */
const killPatienceMs = 5000;

/** The pause between two looks. */
const lookAgainMs = 2;

/**
 * Ends everything that is left of a run: TERM once to each process, KILL after the grace, again and again until two
 * looks in a row find nothing. One look is not enough: in the middle of an `exec` a process shows no environment.
 */
export async function sweepRun(
  runId: string,
  deps: { readonly clock: Clock },
  options: SweepOptions = {},
): Promise<SweepReport> {
  const { clock } = deps;
  const killFrom = clock.monotonic() + (options.graceMs ?? defaultGraceMs);
  const seen = new Set<string>();
  let emptyLooks = 0;
  let found: ProcessEntry[] = [];
  while (emptyLooks < 2 && clock.monotonic() < killFrom + killPatienceMs) {
    found = await processesOfRun(runId, clock, options.leader);
    emptyLooks = found.length === 0 ? emptyLooks + 1 : 0;
    const newcomers = signalAll(found, seen, clock.monotonic() >= killFrom);
    // Where something multiplies, the next look comes at once.
    if (emptyLooks < 2 && newcomers === 0) await sleep(clock, lookAgainMs);
  }
  return { ended: seen.size - found.length, left: found.length };
}

/** TERM to those not seen before, KILL to all when the grace is over. Returns how many were new. */
function signalAll(found: readonly ProcessEntry[], seen: Set<string>, killNow: boolean): number {
  let newcomers = 0;
  for (const target of found) {
    const key = `${target.pid} ${target.startTime}`;
    const isNew = !seen.has(key);
    seen.add(key);
    if (isNew) newcomers += 1;
    if (killNow || isNew) signalProcess(target, killNow ? 'SIGKILL' : 'SIGTERM');
  }
  return newcomers;
}
