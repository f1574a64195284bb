import type { Clock, Timer } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { TurnResult } from './agent.ts';
import { SilenceTimer } from './silence-timer.ts';

/** More holds than any agent needs at once. */
const mostHolds = 1_000;

/**
 * A turn from two sides: the `result` for the caller that runs it, and whether the agent still runs it (`over`). The first
 * result counts; once the turn is given up, the result is `cancelled` in any case. Silence counts only while the
 * agent has to send the next message, not while it waits for Baton.
 */
export class LiveTurn {
  readonly #clock: Clock;
  readonly #name: string;
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
  /** The agent's id of the turn, once it is known. */
  id: string | null = null;
  /** The last thing the agent said in it. */
  lastMessage: string | null = null;

  /** `name`: what messages call the agent. */
  constructor(
    name: string,
    clock: Clock,
    timeoutMs: number,
    onSettled: (result: TurnResult, payload: unknown) => void,
  ) {
    this.#name = name;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#onSettled = onSettled;
    this.#silence = this.#listen();
  }

  get result(): Promise<TurnResult> {
    return this.#result.promise;
  }

  /** The id; null when the agent has refused the turn or is gone. */
  get begun(): Promise<string | null> {
    return this.#begun.promise;
  }

  /** Settles when the agent has ended the turn, or is gone. */
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
  isNamed(turnId: string | null, pastTurns: { has(turnId: string): boolean }): boolean {
    if (turnId === null) return true;
    return this.id === null ? !pastTurns.has(turnId) : this.id === turnId;
  }

  /** True once: at the first sign that the agent has the turn. */
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
   * Stops counting silence while the agent waits for Baton; `reason` names the wait. With a limit, silence counts again
   * after it: for work that the agent reports as begun and may never report as ended.
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
      const message = `${this.#name} sent nothing for ${this.#timeoutMs} ms in the middle of a turn.`;
      this.settle({ status: 'failed', error: new BatonError('agent_turn_timeout', message) });
    });
  }

  #stopListening(): void {
    this.#silence?.cancel();
    this.#silence = null;
  }
}
