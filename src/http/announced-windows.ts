import type { Clock } from '../clock/clock.ts';
import type { WindowFacts } from '../core/request-budget.ts';
import type { AnnouncedLimit, RequestWindow } from './http.ts';
import { type Moment, momentAt, wallTimeOf } from './moment.ts';

/** Resets that differ by less are the same one: services count in seconds. */
const sameResetMs = 1_000;

interface Heard {
  readonly limit: number;
  readonly remaining: number;
  /** As announced, in our time. */
  readonly resetAt: number;
  readonly endsAt: Moment;
  /** Its place in the order of what leaves and what is heard. */
  readonly heardAt: number;
}

/**
 * The limits that a service announced last, by name. Which answer is the last one is told by cause, not by arrival: an
 * answer to a request that left after the last one was heard replaces it. Of requests that were under way together the
 * service's own clock decides: a later reset is newer, and of the same window less is left.
 */
export class AnnouncedWindows {
  readonly #clock: Clock;
  readonly #heard = new Map<string, Heard>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hear({ name, limit, remaining, resetAt }: AnnouncedLimit, leftAt: number, heardAt: number): void {
    const before = this.#heard.get(name);
    const news = { limit, remaining, resetAt, endsAt: momentAt(this.#clock, resetAt), heardAt };
    if (before === undefined || leftAt > before.heardAt || resetAt > before.resetAt + sameResetMs) {
      this.#heard.set(name, news);
    } else if (resetAt >= before.resetAt - sameResetMs && remaining < before.remaining) {
      this.#heard.set(name, { ...before, remaining });
    }
  }

  /** Whether the service said of any limit that nothing is left of it. */
  isUsedUp(): boolean {
    return this.#current().some(([, { remaining }]) => remaining <= 0);
  }

  /** What is under way since the last answer is taken as used: `underWay` are the places at which those requests left. */
  facts(underWay: Iterable<number>): readonly WindowFacts[] {
    const places = [...underWay];
    return this.#current().map(([name, { limit, remaining, endsAt, heardAt }]) => ({
      name: `${name} (announced)`,
      limit,
      used: Math.max(0, limit - remaining) + places.filter((leftAt) => leftAt > heardAt).length,
      usedByOthers: null,
      freeAt: wallTimeOf(this.#clock, endsAt),
    }));
  }

  windows(): readonly RequestWindow[] {
    return this.#current().map(([name, { limit, remaining, resetAt }]) => ({
      name,
      source: 'announced',
      limit,
      used: Math.max(0, limit - remaining),
      resetAt,
    }));
  }

  /** Without the windows that are over. */
  #current(): readonly (readonly [name: string, heard: Heard])[] {
    const now = this.#clock.now();
    for (const [name, { endsAt }] of this.#heard) {
      if (wallTimeOf(this.#clock, endsAt) <= now) this.#heard.delete(name);
    }
    return [...this.#heard];
  }
}
