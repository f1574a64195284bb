import type { Clock } from '../clock/clock.ts';

/**
 * An instant on both clocks. It has passed as soon as either clock says so: a wall clock that is set back does not make a
 * wait longer, and a machine that slept, whose monotonic clock may have stopped, does not wait again.
 */
export interface Instant {
  readonly wallAt: number;
  readonly monotonicAt: number;
}

export function instantAt(clock: Clock, wallAt: number): Instant {
  return { wallAt, monotonicAt: clock.monotonic() + (wallAt - clock.now()) };
}

export function laterBy(instant: Instant, ms: number): Instant {
  return { wallAt: instant.wallAt + ms, monotonicAt: instant.monotonicAt + ms };
}

/** Its time on the current wall clock; not after now when it has passed. */
export function wallTimeOf(clock: Clock, { wallAt, monotonicAt }: Instant): number {
  return Math.min(wallAt, Math.ceil(clock.now() + (monotonicAt - clock.monotonic())));
}

export function hasPassed(clock: Clock, instant: Instant): boolean {
  return wallTimeOf(clock, instant) <= clock.now();
}
