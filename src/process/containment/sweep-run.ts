import type { Clock } from '../../clock/clock.ts';
import { findProcesses, type MarkedProcess, ownLine, type SessionLeader } from './marked-processes.ts';
import type { ProcessEntry } from './process-table.ts';
import { sweep } from './sweep.ts';

export interface SweepOptions {
  /** How long survivors have between TERM and KILL. */
  readonly graceMs?: number;
  /** The first process of the run, where it is known. */
  readonly leader?: SessionLeader;
  /** What `lookForRun` found before the run was told to end. */
  readonly known?: readonly MarkedProcess[];
}

export interface SweepReport {
  /** Processes that were found and are gone. */
  readonly ended: number;
  /** How many are still there, for whatever reason. Not zero: nobody may take the run's place. */
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
 * What there is of a run now. For who is about to end its first process: a descendant without a marker that left the
 * session is found only as long as its parent lives.
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
