import type { Clock } from '../../clock/clock.ts';
import type { BatonError } from '../../core/baton-error.ts';
import type { RequestCause } from '../../core/requests/request-caller.ts';

/** People who ask again and again while the tracker is down get one try in this time. */
const liftEveryMs = 10_000;

/**
 * A tracker that did not answer is left alone for a while, longer with each failure, so that an outage never costs more
 * requests than an ordinary day: until a poll was answered, reads are refused here with what the tracker said last. Where
 * the tracker said itself when to come again, that holds. Polls keep to `until` by their own schedule; a person who waits
 * for an answer, and live runs, are not refused.
 */
export class TrackerRest {
  readonly #clock: Clock;
  readonly #waitMs: (failures: number) => number;
  #failures = 0;
  /** On both clocks: the monotonic one stands still while the machine sleeps, the other one may be set. */
  #until = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
  #liftedAt = Number.NEGATIVE_INFINITY;
  #error: BatonError | null = null;

  constructor(clock: Clock, waitMs: (failures: number) => number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** When a poll may ask again, on the monotonic clock; in the past when it may now. */
  get until(): number {
    return this.#clock.now() >= this.#until.wall ? Number.NEGATIVE_INFINITY : this.#until.monotonic;
  }

  /** In a row. */
  get failures(): number {
    return this.#failures;
  }

  /** From a failure to the next answer. */
  isResting(): boolean {
    return this.#error !== null;
  }

  failed(error: BatonError, cause: RequestCause): void {
    if (isAboutOthers(error, cause)) return;
    const { until, step } = error.details;
    const namedMs = typeof until === 'number' ? until - this.#clock.now() : 0;
    // A door that is known to be closed was not knocked at: that is no failure of the tracker.
    if (step !== 'closed') this.#failures += 1;
    this.#error = error;
    // A time that was named is the time to come again, neither sooner nor later.
    const waitMs = namedMs > 0 ? namedMs : this.#waitMs(Math.max(1, this.#failures));
    this.#until = {
      monotonic: Math.max(this.#until.monotonic, this.#clock.monotonic() + waitMs),
      wall: Math.max(this.#until.wall, this.#clock.now() + waitMs),
    };
  }

  succeeded(): void {
    this.#failures = 0;
    this.#end();
  }

  /** Somebody wants to know now. */
  lift(): void {
    const now = this.#clock.monotonic();
    if (this.#error === null || now - this.#liftedAt < liftEveryMs) return;
    this.#liftedAt = now;
    this.#end();
  }

  /** Throws what the tracker said last while it rests. */
  refuse(cause: RequestCause): void {
    if (cause === 'person' || cause === 'running' || cause === 'poll') return;
    if (this.#error !== null) throw this.#error;
  }

  #end(): void {
    this.#until = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
    this.#error = null;
  }
}

/**
 * Failures that say nothing about the next read of somebody else: what may wait comes seldom and is refused first; a person
 * who looks must not put off the polls; where requests are short and nothing was sent, what is more important still goes; a
 * bad record is that issue's own trouble.
 */
function isAboutOthers({ code, details: { step } }: BatonError, cause: RequestCause): boolean {
  if (cause === 'sweep' || cause === 'person') return true;
  if (code === 'tracker_rate_limited') return typeof step === 'string' && step !== 'closed';
  return code === 'tracker_response' && cause !== 'poll' && cause !== 'running';
}
