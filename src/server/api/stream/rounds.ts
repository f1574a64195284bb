import type { Clock, Timer } from '../../../clock/clock.ts';

/** How long texts are sent before other work gets its turn, and how long that turn is. */
const sliceMs = 2;
const restMs = 4;

interface Round<Taker> {
  readonly text: string;
  readonly takers: readonly Taker[];
  next: number;
}

/**
 * Sends texts to many takers, a few at a time. What must hold: each taker gets its texts in the order in which they
 * were added; other work on this thread waits for one slice, not for all takers. While it is busy, callers should add
 * as little as possible: waiting texts take memory.
 */
export class Rounds<Taker> {
  readonly #clock: Clock;
  readonly #hand: (taker: Taker, text: string) => void;
  readonly #waiting: Round<Taker>[] = [];
  #timer: Timer | null = null;

  constructor(clock: Clock, hand: (taker: Taker, text: string) => void) {
    this.#clock = clock;
    this.#hand = hand;
  }

  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** The first takers receive the text before this returns, unless earlier texts are still waiting. */
  add(text: string, takers: readonly Taker[]): void {
    this.#waiting.push({ text, takers, next: 0 });
    if (this.#waiting.length === 1) this.#go();
  }

  close(): void {
    this.#timer?.cancel();
    this.#waiting.length = 0;
  }

  #go(): void {
    const until = this.#clock.monotonic() + sliceMs;
    for (let round = this.#waiting[0]; round !== undefined; round = this.#waiting[0]) {
      for (; round.next < round.takers.length; round.next += 1) {
        if (this.#clock.monotonic() >= until) {
          this.#timer = this.#clock.schedule(restMs, () => this.#go());
          return;
        }
        this.#hand(round.takers[round.next] as Taker, round.text);
      }
      this.#waiting.shift();
    }
  }
}
