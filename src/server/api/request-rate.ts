import type { Clock } from '../../clock/clock.ts';

export interface RateLimit {
  /** So many at once. */
  readonly burst: number;
  readonly perSecond: number;
}

const mostVisitors = 1_000;

/** How often each visitor may ask. What must hold: who is slow is never refused; memory is bounded. */
export class RequestRate {
  readonly #clock: Clock;
  readonly #limit: RateLimit;
  readonly #left = new Map<string, { tokens: number; at: number }>();

  constructor(clock: Clock, limit: RateLimit) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Whether one more request of this visitor is heard. */
  take(visitor: string): boolean {
    const now = this.#clock.monotonic();
    const { burst, perSecond } = this.#limit;
    const before = this.#left.get(visitor);
    const tokens =
      before === undefined ? burst : Math.min(burst, before.tokens + ((now - before.at) / 1_000) * perSecond);
    // Put in again, so that the first of the map is the one that was not heard for longest.
    this.#left.delete(visitor);
    this.#left.set(visitor, { tokens: Math.max(0, tokens - 1), at: now });
    const [oldest] = this.#left.keys();
    if (this.#left.size > mostVisitors && oldest !== undefined) this.#left.delete(oldest);
    return tokens >= 1;
  }

  /** What was taken is given back: it was not meant to be counted. */
  give(visitor: string): void {
    const left = this.#left.get(visitor);
    if (left !== undefined) left.tokens = Math.min(this.#limit.burst, left.tokens + 1);
  }
}
