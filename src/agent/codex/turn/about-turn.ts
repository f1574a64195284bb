import type { PastTurns } from '../session/past-turns.ts';
import { idIn } from '../session/session-params.ts';
import { type Fields, textOf } from '../wire/fields.ts';
import type { LiveTurn } from './live-turn.ts';

/** What a word is about: a thread, one of its turns where it names one, and the turn of ours that runs if it is that. */
export interface AboutTurn {
  readonly threadId: string | null;
  readonly turnId: string | null;
  readonly turn: LiveTurn | null;
}

/** A word that names no thread, or no turn, is about ours: older ones name neither. */
export function aboutTurn(
  params: Fields,
  ownThread: string | null,
  running: LiveTurn | null,
  pastTurns: PastTurns,
): AboutTurn {
  const threadId = textOf(params.threadId) ?? ownThread;
  const turnId = idIn(params, 'turn') ?? textOf(params.turnId);
  const isOwn = ownThread === null || threadId === ownThread;
  return { threadId, turnId, turn: isOwn && running?.isNamed(turnId, pastTurns) ? running : null };
}
