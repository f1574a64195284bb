import type { Clock, Timer } from '../clock/clock.ts';

/** Calls `onSilence` once when `touch` was not called for `limitMs`, not counting paused time. */
export class SilenceTimer {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #lastSound: number;
  #pauses = 0;
  #timer: Timer;

  constructor(clock: Clock, limitMs: number, onSilence: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.#lastSound = clock.monotonic();
    this.#timer = this.#arm(limitMs);
  }

  /** Cheap enough for every line of output: it only notes the time, and the timer compares it when it fires. */
  touch(): void {
    this.#lastSound = this.#clock.monotonic();
  }

  /**
   * Stops counting: Baton does not wait for the agent now. Returns a function that ends the pause and may be called
   * twice; silence then counts from that moment. The timer is paused while at least one of several pauses lasts.
   */
  pause(): () => void {
    let isPaused = true;
    this.#pauses += 1;
    return () => {
      if (!isPaused) return;
      isPaused = false;
      this.#pauses -= 1;
      this.touch();
    };
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #arm(delayMs: number): Timer {
    return this.#clock.schedule(delayMs, () => {
      if (this.#pauses > 0) this.touch();
      const leftMs = this.#lastSound + this.#limitMs - this.#clock.monotonic();
      if (leftMs <= 0) this.#onSilence();
      else this.#timer = this.#arm(leftMs);
    });
  }
}
