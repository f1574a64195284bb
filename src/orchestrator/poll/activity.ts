import type { Clock } from '../../clock/clock.ts';

/**
 * When something last happened: an issue appeared or changed, a run started or ended, a person used a command that
 * changes something (to start Baton is one), or the file `.baton/last-activity` beside the workflow was touched. Wall
 * time, because people's days and a machine that sleeps go by it.
 */
export class Activity {
  readonly #clock: Clock;
  readonly #touchedAt: () => number | null;
  readonly #onActivity: () => void;
  #lastAt: number;
  #lastTouch: number | null = null;

  constructor(parts: {
    readonly clock: Clock;
    readonly touchedAt: () => number | null;
    readonly onActivity: () => void;
  }) {
    this.#clock = parts.clock;
    this.#touchedAt = parts.touchedAt;
    this.#onActivity = parts.onActivity;
    this.#lastAt = parts.clock.now();
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  note(): void {
    this.#lastAt = this.#clock.now();
    this.#onActivity();
  }

  /** Looks at the file. A time in the future is now: clocks differ. */
  look(): void {
    // The clock was set back: what seems to be still to come was now, once, and gets old from here.
    this.#lastAt = Math.min(this.#lastAt, this.#clock.now());
    const touchedAt = this.#touchedAt();
    if (touchedAt === null || touchedAt === this.#lastTouch) return;
    this.#lastTouch = touchedAt;
    const at = Math.min(touchedAt, this.#clock.now());
    if (at <= this.#lastAt) return;
    this.#lastAt = at;
    this.#onActivity();
  }
}
