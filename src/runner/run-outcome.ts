import type { BatonError } from '../core/baton-error.ts';
import type { RunOutcome, StopReason } from '../core/run/run.ts';
import { stopOutcome } from '../core/run/stop-outcome.ts';

/** A stop explains whatever went wrong after it, except that the agent is still alive. */
export function outcomeOf(reason: StopReason | null, error: BatonError | null, turns: number): RunOutcome {
  if (error?.code === 'agent_survives') return failed(error, turns);
  if (reason !== null) return stopOutcome(reason, turns);
  if (error?.code === 'claim_lost') return stopOutcome('claim_lost', turns);
  return error === null ? succeeded(turns) : failed(error, turns);
}

function succeeded(turns: number): RunOutcome {
  return { end: 'succeeded', turns };
}

function failed(error: BatonError, turns: number): RunOutcome {
  return { end: error.code === 'agent_turn_timeout' ? 'timed_out' : 'failed', turns, error };
}
