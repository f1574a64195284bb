import type { Clock } from '../clock/clock.ts';
import type { BatonError } from '../core/baton-error.ts';
import type { RequestCause } from '../core/request-caller.ts';

/** Requests are short and nothing was sent: what is more important may still be. */
function isOnlyForSome({ code, details: { step } }: BatonError): boolean {
  return code === 'tracker_rate_limited' && typeof step === 'string' && step !== 'closed';
}

/**
 * A tracker that did not answer is left alone for a while, longer with each failure, so that an outage never costs more
 * requests than an ordinary day: until then reads are refused here, with what the tracker said last. Where the tracker
 * said itself when to come again, that holds. A poll keeps to `until` by its own schedule; a person who waits for an
 * answer, and live runs, are not refused.
 */
export class TrackerRest {
  readonly #clock: Clock;
  readonly #waitMs: (failures: number) => number;
  #failures = 0;
  #until = Number.NEGATIVE_INFINITY;
  #error: BatonError | null = null;

  constructor(clock: Clock, waitMs: (failures: number) => number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** On the monotonic clock; in the past when it does not rest. */
  get until(): number {
    return this.#until;
  }

  /** In a row. */
  get failures(): number {
    return this.#failures;
  }

  isResting(): boolean {
    return this.#clock.monotonic() < this.#until;
  }

  failed(error: BatonError, cause: RequestCause): void {
    // What may wait comes seldom, and is refused before the others: that says nothing about them.
    if (cause === 'sweep' || isOnlyForSome(error)) return;
    this.#failures += 1;
    this.#error = error;
    const { until } = error.details;
    const announcedMs = typeof until === 'number' ? until - this.#clock.now() : 0;
    const waitMs = Math.max(announcedMs, this.#waitMs(this.#failures));
    this.#until = Math.max(this.#until, this.#clock.monotonic() + waitMs);
  }

  succeeded(): void {
    this.#failures = 0;
    this.lift();
  }

  /** Somebody wants to know now. */
  lift(): void {
    this.#until = Number.NEGATIVE_INFINITY;
    this.#error = null;
  }

  /** Throws what the tracker said last while it rests. */
  refuse(cause: RequestCause): void {
    if (cause === 'person' || cause === 'running' || cause === 'poll') return;
    if (this.#error !== null && this.isResting()) throw this.#error;
  }
}
