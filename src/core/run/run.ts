import type { BatonError } from '../baton-error.ts';

/**
 * Where a run is (seed 2, Run Attempt Lifecycle). The first six are passed in this order; one of the last five ends
 * it. A stage says where the run is, an outcome what came of it.
 */
export type RunStage =
  | 'preparing_workspace'
  | 'building_prompt'
  | 'launching_agent_process'
  | 'initializing_session'
  | 'streaming_turn'
  | 'finishing'
  | LastStage;

type LastStage = 'succeeded' | 'failed' | 'timed_out' | 'stalled' | 'canceled_by_reconciliation';

/**
 * How a run ended: by its last stage, or `interrupted`. That one is no stage: seed 2 has eleven, and to whoever watches
 * a run it was stopped from outside like any other. It is an outcome of its own because of what follows: the issue is
 * still to be done and nobody failed, so the work goes on and nothing is counted.
 */
export type RunEnd = LastStage | 'interrupted';

export function lastStage(end: RunEnd): RunStage {
  return end === 'interrupted' ? 'canceled_by_reconciliation' : end;
}

/** What came of a run. Only `succeeded` has no error; the error's code tells why. */
export type RunOutcome =
  | { readonly end: 'succeeded'; readonly turns: number }
  | { readonly end: Exclude<RunEnd, 'succeeded'>; readonly turns: number; readonly error: BatonError };

/** Why the orchestrator ends a run that has not ended itself. `core/run/stop-outcome.ts` says what comes of it. */
export type StopReason =
  | 'stalled'
  | 'terminal_state'
  | 'inactive_state'
  | 'not_routable'
  | 'issue_missing'
  | 'stopped_by_person'
  /** The issue has spent what it may; it is held. */
  | 'limit_reached'
  /** All runs of the day have spent what they may; they go on when there is a new allowance. */
  | 'day_limit_reached'
  /** The claim is no longer this daemon's; another may have the issue already. */
  | 'claim_lost'
  /** Nobody answered its question in time; the issue is held with it. */
  | 'unanswered'
  /** A person goes on by hand; the issue is held until they hand it back. */
  | 'taken_over'
  /** The agent's process vanished, and nobody was told of an exit. */
  | 'process_gone'
  | 'shutdown';
