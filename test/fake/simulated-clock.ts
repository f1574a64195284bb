import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises';
import type { Chance } from '../../src/clock/chance.ts';
import type { Clock, Timer } from '../../src/clock/clock.ts';
import { seededChance } from './seeded-chance.ts';

export interface SimulatedClockOptions {
  /** Draws the order of timers that fall due at the same instant, so that seeds explore interleavings. */
  readonly seed?: number;
  /** Wall time at the start, UTC milliseconds. */
  readonly startAt?: number;
}

interface Entry {
  readonly dueAt: number;
  readonly rank: number;
  readonly order: number;
  readonly action: () => void;
}

/**
 * A clock that stands still until a test moves it, and runs real `async` code under it.
 *
 * What must hold: the code under test waits only through this clock and through promises. Then, after each timer,
 * everything that can run without time passing has run before the next timer fires: promise reactions drain before
 * the event loop turns, so one turn of the real loop is enough. The same seed and the same code give the same order of
 * events, always. A timer action that throws ends `advance` with that error.
 */
export class SimulatedClock implements Clock {
  readonly #chance: Chance;
  readonly #entries = new Set<Entry>();
  #wallOffset: number;
  #elapsed = 0;
  #order = 0;

  constructor(options: SimulatedClockOptions = {}) {
    this.#chance = seededChance(options.seed ?? 0);
    this.#wallOffset = options.startAt ?? Date.UTC(2026, 0, 1);
  }

  now(): number {
    return this.#wallOffset + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  schedule(delayMs: number, action: () => void): Timer {
    const entry: Entry = {
      dueAt: this.#elapsed + Math.max(delayMs, 0),
      rank: this.#chance.next(),
      order: this.#order++,
      action,
    };
    this.#entries.add(entry);
    return { cancel: () => void this.#entries.delete(entry) };
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#entries.size;
  }

  /** Lets everything run that needs no time to pass. */
  async settle(): Promise<void> {
    await nextTurnOfTheLoop();
  }

  /** Moves time forward by `durationMs`, firing each timer at its own instant. */
  async advance(durationMs: number): Promise<void> {
    const end = this.#elapsed + durationMs;
    await this.settle();
    for (let entry = this.#earliest(end); entry !== undefined; entry = this.#earliest(end)) {
      await this.#fire(entry);
    }
    this.#elapsed = end;
  }

  /** Moves time forward timer by timer until `done` holds; false when it did not within `limitMs`. */
  async advanceUntil(done: () => boolean, limitMs: number): Promise<boolean> {
    const end = this.#elapsed + limitMs;
    await this.settle();
    while (!done()) {
      const entry = this.#earliest(end);
      if (entry === undefined) {
        this.#elapsed = end;
        return false;
      }
      await this.#fire(entry);
    }
    return true;
  }

  /** Sets the wall clock forward or back, as a person or a time server would. Monotonic time does not notice. */
  jumpWall(byMs: number): void {
    this.#wallOffset += byMs;
  }

  async #fire(entry: Entry): Promise<void> {
    this.#entries.delete(entry);
    this.#elapsed = entry.dueAt;
    entry.action();
    await this.settle();
  }

  #earliest(end: number): Entry | undefined {
    let earliest: Entry | undefined;
    for (const entry of this.#entries) {
      if (entry.dueAt <= end && (earliest === undefined || comesBefore(entry, earliest))) earliest = entry;
    }
    return earliest;
  }
}

function comesBefore(left: Entry, right: Entry): boolean {
  if (left.dueAt !== right.dueAt) return left.dueAt < right.dueAt;
  if (left.rank !== right.rank) return left.rank < right.rank;
  return left.order < right.order;
}
