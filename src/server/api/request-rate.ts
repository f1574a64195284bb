import type { Clock } from '../../clock/clock.ts';

export interface RateLimit {
  /** The most requests at once. */
  readonly burst: number;
  readonly perSecond: number;
}

const mostVisitors = 1_000;

/**
 * Limits how often each visitor may ask. What must hold: a visitor below the rate is never refused; memory is bounded.
 */
export class RequestRate {
  readonly #clock: Clock;
  readonly #limit: RateLimit;
  readonly #left = new Map<string, { tokens: number; at: number }>();

  constructor(clock: Clock, limit: RateLimit) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Whether one more request of this visitor is allowed. */
  take(visitor: string): boolean {
    const now = this.#clock.monotonic();
    const { burst, perSecond } = this.#limit;
    const before = this.#left.get(visitor);
    const tokens =
      before === undefined ? burst : Math.min(burst, before.tokens + ((now - before.at) / 1_000) * perSecond);
    // Insert again, so that the first entry of the map is the visitor that has been silent the longest.
    this.#left.delete(visitor);
    this.#left.set(visitor, { tokens: Math.max(0, tokens - 1), at: now });
    const [oldest] = this.#left.keys();
    if (this.#left.size > mostVisitors && oldest !== undefined) this.#left.delete(oldest);
    return tokens >= 1;
  }

  /** Returns one request to the visitor, because it should not count. */
  give(visitor: string): void {
    const left = this.#left.get(visitor);
    if (left !== undefined) left.tokens = Math.min(this.#limit.burst, left.tokens + 1);
  }
}
