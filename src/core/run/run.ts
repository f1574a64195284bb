import type { BatonError } from '../baton-error.ts';

/**
 * Where a run is (seed 2, Run Attempt Lifecycle). A run passes the first six in this order; one of the last five ends
 * it. A stage says where the run is, an outcome what its result is.
 */
export type RunStage =
  | 'preparing_workspace'
  | 'building_prompt'
  | 'launching_agent_process'
  | 'initializing_session'
  | 'streaming_turn'
  | 'finishing'
  | LastStage;

/** Short, so that they fit a column. */
const shortStages: Readonly<Record<RunStage, string>> = {
  preparing_workspace: 'preparing',
  building_prompt: 'prompt',
  launching_agent_process: 'launching',
  initializing_session: 'starting',
  streaming_turn: 'working',
  finishing: 'finishing',
  succeeded: 'succeeded',
  failed: 'failed',
  timed_out: 'timed out',
  stalled: 'stalled',
  canceled_by_reconciliation: 'stopped',
};

/** A stage as people read it; programs get its name, which the specification fixes. */
export function stageWords(stage: string): string {
  const known: Readonly<Record<string, string | undefined>> = shortStages;
  return known[stage] ?? stage.replaceAll('_', ' ');
}

type LastStage = 'succeeded' | 'failed' | 'timed_out' | 'stalled' | 'canceled_by_reconciliation';

/**
 * How a run ended: by its last stage, or `interrupted`. `interrupted` is not a stage: seed 2 has eleven, and an
 * observer of the run sees only that it was stopped from outside. It is an outcome of its own because of its
 * consequence: the issue is still to be done and nothing failed, so the work continues and nothing is counted.
 */
export type RunEnd = LastStage | 'interrupted';

export function lastStage(end: RunEnd): RunStage {
  return end === 'interrupted' ? 'canceled_by_reconciliation' : end;
}

/** The outcome of a run. Only `succeeded` has no error; the error's code says why. */
export type RunOutcome =
  | { readonly end: 'succeeded'; readonly turns: number }
  | { readonly end: Exclude<RunEnd, 'succeeded'>; readonly turns: number; readonly error: BatonError };

/** Why the orchestrator ends a run that has not ended itself. `core/run/stop-outcome.ts` lists the outcomes. */
export type StopReason =
  | 'stalled'
  | 'terminal_state'
  | 'inactive_state'
  | 'not_routable'
  | 'issue_missing'
  | 'stopped_by_person'
  /** The issue has spent its allowance; it is held. */
  | 'limit_reached'
  /** All runs of the day have spent the day's allowance; they continue with the next one. */
  | 'day_limit_reached'
  | 'role_budget_reached'
  /** This daemon has lost the claim; another may have the issue already. */
  | 'claim_lost'
  /** No person answered its question in time; the issue is held with it. */
  | 'unanswered'
  /** A person moved its issue to another phase. */
  | 'phase_moved'
  /** A person continues by hand; the issue is held until they hand it back. */
  | 'taken_over'
  /** A task took longer than it may. */
  | 'deadline'
  /** The agent's process vanished without a report of its exit. */
  | 'process_gone'
  | 'shutdown';
