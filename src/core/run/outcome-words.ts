import type { ErrorCode } from '../error-catalogue.ts';
import type { RunEnd } from './run.ts';

export interface EndedRun {
  readonly outcome: RunEnd;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

const words: Readonly<Record<RunEnd, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  timed_out: 'timed out',
  stalled: 'stalled',
  canceled_by_reconciliation: 'stopped',
  interrupted: 'interrupted',
};

/** The message of one of these says itself that the run was stopped, and why. */
const saysHowItEnded: ReadonlySet<string | null> = new Set<ErrorCode>([
  'run_cancelled',
  'run_interrupted',
  'run_taken_over',
  'limit_reached',
]);

/**
 * How a run ended, in words for people. A person's decision, or a wait for one, is not a failure; programs get the
 * outcome unchanged.
 */
export function outcomeWords({ outcome, errorCode, errorMessage }: EndedRun): string {
  if (errorMessage === null) return words[outcome];
  if (saysHowItEnded.has(errorCode)) return errorMessage;
  const word = errorCode === 'agent_input_required' ? 'waited for a person' : words[outcome];
  return `${word}: ${errorMessage}`;
}
