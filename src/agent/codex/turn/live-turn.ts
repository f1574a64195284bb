import type { Clock, Timer } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { TurnResult } from '../../agent.ts';
import { SilenceTimer } from '../../silence-timer.ts';
import { ownServer } from '../requests/request-desk.ts';
import { idIn } from '../session/session-params.ts';
import { type Fields, textOf } from '../wire/fields.ts';

/** More than any agent waits for at once. */
const mostHolds = 1_000;

/**
 * A turn, twice over: what whoever runs it gets as its `result`, and whether Codex is still at it (`over`). The first result
 * counts; once the turn is given up, it is `cancelled` whatever comes. Silence is counted only while Codex owes the next
 * word: not while it waits for something of ours.
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
  /** Codex's name of it, as soon as it is known. */
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

  /** Whether a word is about this turn. One about an earlier turn may come late, before the id of this one is known. */
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

  /** `payload` is the frame that told it, where there was one. Told at once, so that events keep their order. */
  settle(result: TurnResult, payload?: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#stopListening();
    for (const timer of this.#holds.values()) timer?.cancel();
    const final: TurnResult = this.#isGivenUp ? { status: 'cancelled' } : result;
    try {
      this.#onSettled(final, payload);
    } finally {
      // Whoever waits for the turn hears of its end, whatever became of telling it.
      this.#result.resolve(final);
    }
  }

  touch(): void {
    this.#silence?.touch();
  }

  /**
   * Codex waits for something of ours, by the name given. With a limit, silence counts again after it: for what Codex says
   * has begun, and may never say has ended.
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
      const message = `Codex said nothing for ${this.#timeoutMs} ms in the middle of a turn.`;
      this.settle({ status: 'failed', error: new BatonError('agent_turn_timeout', message) });
    });
  }

  #stopListening(): void {
    this.#silence?.cancel();
    this.#silence = null;
  }
}

/** Of so many turns that have ended a late word is known as such. */
const mostKept = 1_000;
/** Of a name that Codex gives to a turn; a longer one is none. */
const longestId = 256;

/** Turns of this session that have ended, or were told to: a late word about one of them is about none that runs. */
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

/** Longer than any person is waited for: after that, a call that was begun and never ended does not count any more. */
const longestToolMs = 24 * 3_600_000;

/** What an item of a turn says about it: its last words, and that it waits for a tool of Baton's own. */
export function followItem(turn: LiveTurn, method: string, item: Fields, hasOwnServer: boolean): void {
  const id = textOf(item.id) ?? '';
  const reason = `tool ${id}`;
  const isOwnTool = hasOwnServer && item.type === 'mcpToolCall' && item.server === ownServer;
  if (method === 'item/started' && isOwnTool && id.length <= longestId) turn.hold(reason, longestToolMs);
  if (method !== 'item/completed') return;
  turn.release(reason);
  if (item.type === 'agentMessage') turn.lastMessage = textOf(item.text);
}
