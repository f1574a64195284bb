import type { LiveTurn } from '../../live-turn.ts';
import { type Fields, textOf } from '../../wire/fields.ts';
import { ownServer } from '../requests/request-handler.ts';
import { idIn } from '../session/session-params.ts';

/** The number of ended turns whose late frames are still recognized. */
const mostKept = 1_000;
/** Limit for the id of a turn; a longer one is not a real id. */
const longestId = 256;

/**
 * Turns of this session that have ended or were interrupted: a late frame about one of them is not about a running
 * turn.
 */
export class PastTurns {
  readonly #ids = new Set<string>();

  has(turnId: string | null): boolean {
    return turnId !== null && this.#ids.has(turnId);
  }

  add(turnId: string | null): void {
    if (turnId === null || turnId.length > longestId) return;
    this.#ids.add(turnId);
    const [oldest] = this.#ids;
    if (this.#ids.size > mostKept && oldest !== undefined) this.#ids.delete(oldest);
  }
}

/** What a frame is about: a thread, one of its turns where it names one, and Baton's running turn if it is that one. */
export interface AboutTurn {
  readonly threadId: string | null;
  readonly turnId: string | null;
  readonly turn: LiveTurn | null;
}

/** A frame that names no thread or no turn is about Baton's own: older versions name neither. */
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

/** Longer than Baton waits for any person. After that a call that began and never ended no longer holds the turn. */
const longestToolMs = 24 * 3_600_000;

/** Reads from an item the last message of its turn, and whether the turn waits for one of Baton's own tools. */
export function followItem(turn: LiveTurn, method: string, item: Fields, hasOwnServer: boolean): void {
  const id = textOf(item.id) ?? '';
  const reason = `tool ${id}`;
  const isOwnTool = hasOwnServer && item.type === 'mcpToolCall' && item.server === ownServer;
  if (method === 'item/started' && isOwnTool && id.length <= longestId) turn.hold(reason, longestToolMs);
  if (method !== 'item/completed') return;
  turn.release(reason);
  if (item.type === 'agentMessage') turn.lastMessage = textOf(item.text);
}
