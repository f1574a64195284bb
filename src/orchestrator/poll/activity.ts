import type { Clock } from '../../clock/clock.ts';

/**
 * When something last happened: an issue appeared or changed, a run started or ended, a person used a command that
 * changes something (starting Baton is one), or the file `.baton/last-activity` next to the workflow file was touched.
 * Wall time, because people's days and a sleeping machine follow it.
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

  /** Reads the time of the file. A time in the future counts as now: clocks differ. */
  readFile(): void {
    // If the clock was set back, the last activity seems to be in the future: it counts as now and ages from here.
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
