import type { Clock } from '../../clock/clock.ts';
import type { BatonError } from '../../core/baton-error.ts';
import type { RequestCause } from '../../core/requests/request-caller.ts';

/** Repeated requests by people while the tracker is down cause one try in this time. */
const liftEveryMs = 10_000;

const nothingToWaitFor = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

/**
 * Leaves a tracker alone for a while after it did not answer, longer with each failure, so that an outage never costs
 * more requests than an ordinary day. Until a poll is answered, reads are refused here with the last error of the
 * tracker. If the tracker named a time to come back, that time counts. Polls respect `until` by their own schedule;
 * requests of a waiting person and of live runs are not refused.
 */
export class TrackerBackoff {
  readonly #clock: Clock;
  readonly #waitMs: (failures: number) => number;
  #failures = 0;
  /** On both clocks: the monotonic one stands still while the machine sleeps, and a user may set the other one. */
  #until = nothingToWaitFor;
  #liftedAt = Number.NEGATIVE_INFINITY;
  #error: BatonError | null = null;

  constructor(clock: Clock, waitMs: (failures: number) => number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** When a poll may ask again, on the monotonic clock; in the past when it may ask now. */
  get until(): number {
    return this.#clock.now() >= this.#until.wall ? Number.NEGATIVE_INFINITY : this.#until.monotonic;
  }

  /** In a row. */
  get failures(): number {
    return this.#failures;
  }

  /** True from a failure to the next answer. */
  isBackingOff(): boolean {
    return this.#error !== null;
  }

  failed(error: BatonError, cause: RequestCause): void {
    if (isAboutOthers(error, cause)) return;
    const { until, step } = error.details;
    const namedMs = typeof until === 'number' ? until - this.#clock.now() : 0;
    // `closed`: no request was sent, because the tracker is known to refuse requests now. That is not a failure of the
    // tracker.
    if (step !== 'closed') this.#failures += 1;
    this.#error = error;
    // A time that the tracker named is used exactly.
    const waitMs = namedMs > 0 ? namedMs : this.#waitMs(Math.max(1, this.#failures));
    this.#until = {
      monotonic: Math.max(this.#until.monotonic, this.#clock.monotonic() + waitMs),
      wall: Math.max(this.#until.wall, this.#clock.now() + waitMs),
    };
  }

  succeeded(): void {
    this.#failures = 0;
    this.#until = nothingToWaitFor;
    this.#error = null;
  }

  /** A person wants an answer now: the poll may ask. Other reads still wait for its answer. */
  lift(): void {
    const now = this.#clock.monotonic();
    if (this.#error === null || now - this.#liftedAt < liftEveryMs) return;
    this.#liftedAt = now;
    this.#until = nothingToWaitFor;
  }

  /** While the tracker rests, throws its last error. */
  refuse(cause: RequestCause): void {
    if (cause === 'person' || cause === 'running' || cause === 'turn' || cause === 'poll') return;
    if (this.#error !== null) throw this.#error;
  }
}

/**
 * Failures that say nothing about the next read of other callers: sweeps are rare and refused first; a read by a person
 * must not delay the polls; when few requests are left and none was sent, more important reads are still sent; a bad
 * record concerns only its own issue.
 */
function isAboutOthers({ code, details: { step } }: BatonError, cause: RequestCause): boolean {
  if (cause === 'sweep' || cause === 'person') return true;
  if (code === 'tracker_rate_limited') return typeof step === 'string' && step !== 'closed';
  return code === 'tracker_response' && cause !== 'poll' && cause !== 'running';
}
