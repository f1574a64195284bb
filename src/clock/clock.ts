/**
 * The one clock. Wall time is for people and for the store; monotonic time is for durations and timers and never
 * goes back. Everything that waits does so through it, so that the whole daemon runs under a simulated twin.
 */
export interface Clock {
  /** Wall time in UTC milliseconds. May jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds since a fixed point in time; never falls. */
  monotonic(): number;
  /** Calls `action` once, at least `delayMs` from now. A delay of zero or less still runs later, never synchronously. */
  schedule(delayMs: number, action: () => void): Timer;
}

export interface Timer {
  /** The action does not run after this. Cancelling twice, or after it ran, does nothing. */
  cancel(): void;
}

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.schedule(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The result of `within` when the time is up first. */
export const timedOut: unique symbol = Symbol('timedOut');

/**
 * The outcome of `work`, or `timedOut` when it takes longer than `limitMs`. The work itself continues; to end it,
 * pass it an AbortSignal.
 */
export function within<T>(clock: Clock, limitMs: number, work: Promise<T>): Promise<T | typeof timedOut> {
  return new Promise((resolve, reject) => {
    const timer = clock.schedule(limitMs, () => resolve(timedOut));
    work.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
