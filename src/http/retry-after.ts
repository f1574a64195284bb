import type { Clock } from '../clock/clock.ts';
import { quotaDelayMs } from '../core/run/backoff.ts';
import { hasPassed, type Instant, instantAt, wallTimeOf } from './instant.ts';

/**
 * Until when a service refuses requests.
 *
 *   open ──a refusal──► closed ──its time comes──► open
 *   closed ──another refusal──► closed, until the later of the two
 *   either ──a refusal from before a restart──► closed, until the later of the two
 *
 * A refusal that names no time closes for a minute; each further one in a row for twice as long, up to an hour. "In a
 * row" follows the order of requests: of requests that were in flight together, one refusal counts, and the answer to an
 * earlier request neither opens nor resets anything.
 */
export class RetryAfter {
  readonly #clock: Clock;
  #opensAt: Instant | null = null;
  /** Refusals without a time, in a row. */
  #waits = 0;
  /** A request that was sent after this knew of the last refusal. */
  #refusedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** When it opens, wall time; null while it is open. */
  closedUntil(): number | null {
    if (this.#opensAt !== null && hasPassed(this.#clock, this.#opensAt)) this.#opensAt = null;
    return this.#opensAt === null ? null : wallTimeOf(this.#clock, this.#opensAt);
  }

  /** `leftAt` and `heardAt` are places in the common order of sent requests and received answers. */
  refused(until: number | null, leftAt: number, heardAt: number): void {
    const isNews = leftAt > this.#refusedAt;
    const wasClosed = this.closedUntil() !== null;
    this.#refusedAt = heardAt;
    if (until !== null) this.#close(until);
    else if (isNews || !wasClosed) {
      this.#close(this.#clock.now() + quotaDelayMs(this.#waits, null, 0));
      if (isNews) this.#waits += 1;
    }
  }

  /** A refusal from before this process sent a request. */
  stayClosed(until: number): void {
    this.#close(until);
  }

  succeeded(leftAt: number): void {
    if (leftAt > this.#refusedAt) this.#waits = 0;
  }

  /** A later end is never replaced by an earlier one. */
  #close(until: number): void {
    this.#opensAt = instantAt(this.#clock, Math.max(until, this.closedUntil() ?? until));
  }
}
