import type { Clock } from '../clock/clock.ts';
import { harderOf, pressureOf, type WindowFacts } from '../core/requests/request-budget.ts';
import { noPressure, type RequestPressure } from '../core/requests/request-pressure.ts';
import type { AnnouncedLimit, RequestWindow } from './http.ts';
import { type Instant, instantAt, wallTimeOf } from './instant.ts';

/** Resets that differ by less are the same one: services count in seconds. */
const sameResetMs = 1_000;

interface Heard {
  readonly limit: number;
  readonly remaining: number;
  /** The announced time, by our clock. */
  readonly resetAt: number;
  readonly endsAt: Instant;
  /** Its place in the common order of sent requests and received answers. */
  readonly heardAt: number;
}

/**
 * The limits that a service announced last, by name. The answer to a request that was sent after the last announcement
 * arrived replaces that announcement. For requests that were in flight together, the clock of the service decides: a later
 * reset is newer, and within one window the lower remaining amount counts.
 */
export class AnnouncedWindows {
  readonly #clock: Clock;
  readonly #heard = new Map<string, Heard>();
  readonly #costs = new RequestCosts();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hear({ name, limit, remaining, resetAt }: AnnouncedLimit, leftAt: number, heardAt: number): void {
    const before = this.#heard.get(name);
    const news = { limit, remaining, resetAt, endsAt: instantAt(this.#clock, resetAt), heardAt };
    // No other request was sent or answered since, so this request used the difference.
    const isAlone = leftAt - 1 === before?.heardAt && leftAt + 1 === heardAt;
    if (isAlone) this.#costs.learn(name, before.remaining - remaining);
    if (before === undefined || leftAt > before.heardAt || resetAt > before.resetAt + sameResetMs) {
      this.#heard.set(name, news);
    } else if (resetAt >= before.resetAt - sameResetMs && remaining < before.remaining) {
      this.#heard.set(name, { ...before, remaining });
    }
  }

  /** Whether the service announced that any limit is used up. */
  isUsedUp(): boolean {
    return this.#current().some(([, { remaining }]) => remaining <= 0);
  }

  /** Requests in flight since the last answer count as used; `underWay` has the places at which they were sent. */
  pressure(underWay: Iterable<number>): RequestPressure {
    const places = [...underWay];
    return this.#current()
      .map(([name, { limit, remaining, endsAt, heardAt }]) => {
        const facts: WindowFacts = {
          name: `${name} (announced)`,
          limit,
          used: Math.max(0, limit - remaining) + places.filter((leftAt) => leftAt > heardAt).length,
          usedByOthers: null,
          freeAt: wallTimeOf(this.#clock, endsAt),
        };
        return this.#pressureAt(this.#costs.costOf(name), facts);
      })
      .reduce(harderOf, noPressure);
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

  /** Requests that cost several points need a spacing that many times longer, but one may be sent when the window ends. */
  #pressureAt(cost: number, facts: WindowFacts): RequestPressure {
    const now = this.#clock.now();
    const pressure = pressureOf([facts], now);
    if (pressure.spacingMs === 0) return pressure;
    const leftMs = facts.freeAt - now;
    const { spacingMs } = pressureOf([{ ...facts, freeAt: now + leftMs * cost }], now);
    return { ...pressure, spacingMs: Math.min(spacingMs, Math.ceil(leftMs)) };
  }

  /** The windows that have not ended. */
  #current(): readonly (readonly [name: string, heard: Heard])[] {
    const now = this.#clock.now();
    for (const [name, { endsAt }] of this.#heard) {
      if (wallTimeOf(this.#clock, endsAt) <= now) this.#heard.delete(name);
    }
    return [...this.#heard];
  }
}

/** The number of requests whose cost is remembered. */
const remembered = 8;

/**
 * The cost of a request, as the remaining amounts of two answers show it: one of a limit on requests, thousands of a
 * limit on points. The highest of the last few counts, because the next one may cost as much. Other users of the
 * same credential make the cost seem higher. If one of the few cost 1, the limit counts requests, and others caused the rest.
 */
class RequestCosts {
  readonly #taken = new Map<string, readonly number[]>();

  /** Ignores a limit that was reset meanwhile. */
  learn(limit: string, taken: number): void {
    if (taken > 0) this.#taken.set(limit, [taken, ...(this.#taken.get(limit) ?? [])].slice(0, remembered));
  }

  costOf(limit: string): number {
    const taken = this.#taken.get(limit) ?? [1];
    return taken.some((each) => each <= 1) ? 1 : Math.max(...taken);
  }
}
