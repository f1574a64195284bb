import type { Clock, Timer } from '../../src/clock/clock.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

interface Waiting {
  readonly dueAt: number;
  readonly action: () => void;
  timer: Timer;
}

/**
 * A simulated clock on a machine that sleeps. What must hold: during sleep nothing runs; on waking every timer that
 * came due during sleep fires at once, late, in any order, and the others fire at their time.
 */
export class SleepyClock implements Clock {
  readonly #base: SimulatedClock;
  readonly #waiting = new Set<Waiting>();
  #sleptMs = 0;

  constructor(startAt: number) {
    this.#base = new SimulatedClock({ startAt });
  }

  now(): number {
    return this.#base.now() + this.#sleptMs;
  }

  monotonic(): number {
    return this.#base.monotonic() + this.#sleptMs;
  }

  schedule(delayMs: number, action: () => void): Timer {
    const waiting: Waiting = {
      dueAt: this.monotonic() + Math.max(delayMs, 0),
      action: () => {
        this.#waiting.delete(waiting);
        action();
      },
      timer: { cancel: () => {} },
    };
    waiting.timer = this.#base.schedule(delayMs, waiting.action);
    this.#waiting.add(waiting);
    return {
      cancel: () => {
        this.#waiting.delete(waiting);
        waiting.timer.cancel();
      },
    };
  }

  advance(durationMs: number): Promise<void> {
    return this.#base.advance(durationMs);
  }

  advanceUntil(done: () => boolean, limitMs: number): Promise<boolean> {
    return this.#base.advanceUntil(done, limitMs);
  }

  /** Sleep on a machine whose monotonic clock continues: afterwards all timers are late. */
  sleepLate(durationMs: number): void {
    this.#sleptMs += durationMs;
    for (const waiting of this.#waiting) {
      waiting.timer.cancel();
      waiting.timer = this.#base.schedule(waiting.dueAt - this.monotonic(), waiting.action);
    }
  }

  /** Sleep on a machine whose monotonic clock stops: only the wall clock shows it. */
  sleepStill(durationMs: number): void {
    this.#base.jumpWall(durationMs);
  }
}
