import { BatonError } from '../baton-error.ts';
import { harmlessLine } from '../text/harmless-line.ts';

/**
 * Turns in a row without progress. A turn is idle when it leaves the workspace unchanged and its last message equals
 * that of the idle turns before it; two empty messages are equal. An unreadable workspace never counts as unchanged:
 * Baton holds no issue on a guess. A turn in which the agent heard a person, in its prompt, by a steering message or by
 * an answer, is never idle either: that is progress, and the count starts again.
 */
export interface IdleTurns {
  readonly count: number;
  /** Of the workspace now; null when it could not be seen. */
  readonly fingerprint: string | null;
  /** The last words of those turns; null before the first. */
  readonly message: string | null;
}

/** The state before the first turn, with the workspace as the turn finds it. */
export function noIdleTurns(fingerprint: string | null): IdleTurns {
  return { count: 0, fingerprint, message: null };
}

export interface TurnTrace {
  /** Of the workspace after it; null when it could not be seen. */
  readonly fingerprint: string | null;
  readonly message: string;
  /** Whether the agent heard a person in it. */
  readonly heardPerson: boolean;
}

export function countIdleTurn(before: IdleTurns, turn: TurnTrace): IdleTurns {
  const { fingerprint } = turn;
  const message = turn.message.trim();
  if (fingerprint === null || fingerprint !== before.fingerprint || turn.heardPerson) return noIdleTurns(fingerprint);
  const goesOn = before.message === null || before.message === message;
  return { count: goesOn ? before.count + 1 : 1, fingerprint, message };
}

/** Whether `count` idle turns end a run; a limit of 0 never does. */
export function isStalemate({ count }: IdleTurns, maxIdleTurns: number): boolean {
  return maxIdleTurns > 0 && count >= maxIdleTurns;
}

const longestWords = 300;

export function stalemateError({ count, message }: IdleTurns): BatonError {
  const turns = count === 1 ? 'The last turn' : `The last ${count} turns`;
  const words = harmlessLine(message ?? '');
  const quoted = words.length <= longestWords ? words : `${words.slice(0, longestWords - 1).toWellFormed()}…`;
  const said = words === '' ? 'ended without a message' : `ended with the same words: "${quoted}"`;
  return new BatonError('run_stalemate', `${turns} changed nothing and ${said} (agent.max_idle_turns).`);
}
