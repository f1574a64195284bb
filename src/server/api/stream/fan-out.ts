import type { Clock, Timer } from '../../../clock/clock.ts';

/** How long texts are sent before other work gets its turn, and how long that turn is. */
const sliceMs = 2;
const restMs = 4;

interface Batch<Receiver> {
  readonly text: string;
  readonly receivers: readonly Receiver[];
  next: number;
}

/**
 * Sends texts to many receivers, a few at a time. What must hold: each receiver gets its texts in the order in which they
 * were added; other work on this thread waits for one slice, not for all receivers. While it is busy, callers should add
 * as little as possible: waiting texts take memory.
 */
export class FanOut<Receiver> {
  readonly #clock: Clock;
  readonly #send: (receiver: Receiver, text: string) => void;
  readonly #waiting: Batch<Receiver>[] = [];
  #timer: Timer | null = null;

  constructor(clock: Clock, send: (receiver: Receiver, text: string) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** The first receivers receive the text before this returns, unless earlier texts are still waiting. */
  add(text: string, receivers: readonly Receiver[]): void {
    this.#waiting.push({ text, receivers, next: 0 });
    if (this.#waiting.length === 1) this.#sendSlice();
  }

  close(): void {
    this.#timer?.cancel();
    this.#waiting.length = 0;
  }

  #sendSlice(): void {
    const until = this.#clock.monotonic() + sliceMs;
    for (let batch = this.#waiting[0]; batch !== undefined; batch = this.#waiting[0]) {
      for (; batch.next < batch.receivers.length; batch.next += 1) {
        if (this.#clock.monotonic() >= until) {
          this.#timer = this.#clock.schedule(restMs, () => this.#sendSlice());
          return;
        }
        this.#send(batch.receivers[batch.next] as Receiver, batch.text);
      }
      this.#waiting.shift();
    }
  }
}
