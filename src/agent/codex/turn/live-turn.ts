import type { Clock, Timer } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { TurnResult } from '../../agent.ts';
import { SilenceTimer } from '../../silence-timer.ts';
import { ownServer } from '../requests/request-handler.ts';
import { idIn } from '../session/session-params.ts';
import { type Fields, textOf } from '../wire/fields.ts';

/** More holds than any agent needs at once. */
const mostHolds = 1_000;

/**
 * A turn from two sides: the `result` for the caller that runs it, and whether Codex still runs it (`over`). The first
 * result counts; once the turn is given up, the result is `cancelled` in any case. Silence counts only while Codex has
 * to send the next message, not while it waits for Baton.
 */
export class LiveTurn {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #onSettled: (result: TurnResult, payload: unknown) => void;
  readonly #result = Promise.withResolvers<TurnResult>();
  readonly #begun = Promise.withResolvers<string | null>();
  readonly #over = Promise.withResolvers<void>();
  readonly #holds = new Map<string, Timer | null>();
  #silence: SilenceTimer | null;
  #isGivenUp = false;
  #hasWord = false;
  #isSettled = false;
  #isOver = false;
  /** Codex's id of the turn, once it is known. */
  id: string | null = null;
  /** The last thing the agent said in it. */
  lastMessage: string | null = null;

  constructor(clock: Clock, timeoutMs: number, onSettled: (result: TurnResult, payload: unknown) => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#onSettled = onSettled;
    this.#silence = this.#listen();
  }

  get result(): Promise<TurnResult> {
    return this.#result.promise;
  }

  /** The id; null when Codex has refused the turn or is gone. */
  get begun(): Promise<string | null> {
    return this.#begun.promise;
  }

  /** Settles when Codex has ended the turn, or is gone. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /**
   * Whether a frame is about this turn. A late frame of an earlier turn may arrive before the id of this one is known.
   */
  isNamed(turnId: string | null, pastTurns: PastTurns): boolean {
    if (turnId === null) return true;
    return this.id === null ? !pastTurns.has(turnId) : this.id === turnId;
  }

  /** True once: at the first sign that Codex has the turn. */
  isFirstWord(): boolean {
    const isFirst = !this.#hasWord;
    this.#hasWord = true;
    return isFirst;
  }

  begin(id: string | null): void {
    this.id ??= id;
    if (this.id !== null) this.#begun.resolve(this.id);
  }

  giveUp(): void {
    this.#isGivenUp = true;
    this.#stopListening();
  }

  end(): void {
    this.#isOver = true;
    this.#begun.resolve(this.id);
    this.#over.resolve();
  }

  /**
   * `payload` is the frame that reported the end, where there was one. Calls `#onSettled` at once, so that events keep
   * their order.
   */
  settle(result: TurnResult, payload?: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#stopListening();
    for (const timer of this.#holds.values()) timer?.cancel();
    const final: TurnResult = this.#isGivenUp ? { status: 'cancelled' } : result;
    try {
      this.#onSettled(final, payload);
    } finally {
      // The caller gets the result even if reporting it throws.
      this.#result.resolve(final);
    }
  }

  touch(): void {
    this.#silence?.touch();
  }

  /**
   * Stops counting silence while Codex waits for Baton; `reason` names the wait. With a limit, silence counts again
   * after it: for work that Codex reports as begun and may never report as ended.
   */
  hold(reason: string, limitMs: number | null = null): void {
    if (this.#isSettled || this.#holds.has(reason) || this.#holds.size >= mostHolds) return;
    const timer = limitMs === null ? null : this.#clock.schedule(limitMs, () => this.release(reason));
    this.#holds.set(reason, timer);
    this.#stopListening();
  }

  release(reason: string): void {
    this.#holds.get(reason)?.cancel();
    if (!this.#holds.delete(reason) || this.#holds.size > 0 || this.#isGivenUp || this.#isSettled) return;
    this.#silence ??= this.#listen();
  }

  #listen(): SilenceTimer {
    return new SilenceTimer(this.#clock, this.#timeoutMs, () => {
      const message = `Codex sent nothing for ${this.#timeoutMs} ms in the middle of a turn.`;
      this.settle({ status: 'failed', error: new BatonError('agent_turn_timeout', message) });
    });
  }

  #stopListening(): void {
    this.#silence?.cancel();
    this.#silence = null;
  }
}

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
