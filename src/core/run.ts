import type { BatonError } from './baton-error.ts';

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
  | RunEnd;

export type RunEnd = 'succeeded' | 'failed' | 'timed_out' | 'stalled' | 'canceled_by_reconciliation';

/** What came of a run. Only `succeeded` has no error; the error's code tells why. */
export type RunOutcome =
  | { readonly end: 'succeeded'; readonly turns: number }
  | { readonly end: Exclude<RunEnd, 'succeeded'>; readonly turns: number; readonly error: BatonError };

/** Why the orchestrator ends a run that has not ended itself. */
export type StopReason =
  | 'stalled'
  | 'terminal_state'
  | 'inactive_state'
  | 'not_routable'
  | 'issue_missing'
  | 'stopped_by_person'
  | 'shutdown';
