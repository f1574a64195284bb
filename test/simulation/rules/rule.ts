import type { SimulatedProcess } from '../process-table.ts';
import type { LedgerRun } from '../run-ledger.ts';

/** Something that must hold in every seed. It reads the world and the store; only `no_issue_forgotten` and two rules of review also ask the daemon. */
export interface Rule {
  /** A process was just started. */
  spawned?(process: SimulatedProcess): void;
  /** The workspace of an issue was just removed on this machine. */
  removed?(workspace: { readonly issueId: string; readonly machine: string }): void;
  /** The store has a new run, or the end of one. In one step, ends are reported before starts. */
  runStarted?(run: LedgerRun): void;
  runEnded?(run: LedgerRun): void;
  /** After every timer. */
  afterStep?(): void;
  /** At the end, when every daemon has stopped in order. */
  atEnd?(): void;
}
