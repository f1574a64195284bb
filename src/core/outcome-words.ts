import type { RunEnd } from './run.ts';
import { stopOutcome } from './stop-outcome.ts';

/** How a run ended, as the store has it. */
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

/** What a message says once more that the word before it has said. */
const saidBefore = /^The run was (stopped|interrupted): /;

/**
 * How a run ended in words for people. What a person decided, or was waited for, is no failure of anybody; programs get
 * the outcome as it is.
 */
export function outcomeWords(end: EndedRun): string {
  const { errorMessage: message } = end;
  return message === null ? word(end) : `${word(end)}: ${message.replace(saidBefore, '')}`;
}

function word({ outcome, errorCode, errorMessage }: EndedRun): string {
  if (errorCode === 'agent_input_required') return 'waited for a person';
  return errorMessage === takenOverMessage() ? 'taken over' : words[outcome];
}

function takenOverMessage(): string | null {
  const outcome = stopOutcome('taken_over', 0);
  return outcome.end === 'succeeded' ? null : outcome.error.message;
}
