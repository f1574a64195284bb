import type { Clock, Timer } from '../clock/clock.ts';

/** Calls `onSilence` once when `touch` has not been called for `limitMs`, not counting the time in which it is paused. */
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

  /** Cheap enough for every line of output: it only notes the time, and the timer finds out when it fires. */
  touch(): void {
    this.#lastSound = this.#clock.monotonic();
  }

  /**
   * From here on it is not the agent that is waited for. Gives what ends the pause, which may be called twice; silence
   * then counts from there. While one of several pauses lasts, all of it does.
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
