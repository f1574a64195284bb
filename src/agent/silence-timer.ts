import type { Clock, Timer } from '../clock/clock.ts';

/** Calls `onSilence` once when `touch` has not been called for `limitMs`. */
export class SilenceTimer {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #lastSound: number;
  #timer: Timer;

  constructor(clock: Clock, limitMs: number, onSilence: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.#lastSound = clock.monotonic();
    this.#timer = this.#arm(limitMs);
  }

  /** Cheap enough for every line of output: it only notes the time, and the timer finds out when it fires. */
  touch(): void {
    this.#lastSound = this.#clock.monotonic();
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #arm(delayMs: number): Timer {
    return this.#clock.schedule(delayMs, () => {
      const leftMs = this.#lastSound + this.#limitMs - this.#clock.monotonic();
      if (leftMs <= 0) this.#onSilence();
      else this.#timer = this.#arm(leftMs);
    });
  }
}
