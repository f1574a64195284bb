import type { Clock } from '../clock/clock.ts';

/**
 * A instant to wait for, kept on both clocks. It has come as soon as either says so: a wall clock that is set back
 * does not make the wait longer, and a machine that slept, whose monotonic clock may have stood still, does not wait again.
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

/** When it comes, by the wall clock as it is set now; not after now when it has come. */
export function wallTimeOf(clock: Clock, { wallAt, monotonicAt }: Instant): number {
  return Math.min(wallAt, Math.ceil(clock.now() + (monotonicAt - clock.monotonic())));
}

export function hasPassed(clock: Clock, instant: Instant): boolean {
  return wallTimeOf(clock, instant) <= clock.now();
}
