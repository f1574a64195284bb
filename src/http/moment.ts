import type { Clock } from '../clock/clock.ts';

/**
 * A moment to wait for, kept on both clocks. It has come as soon as either says so: a wall clock that is set back
 * does not make the wait longer, and a machine that slept, whose monotonic clock may have stood still, does not wait again.
 */
export interface Moment {
  readonly wallAt: number;
  readonly monotonicAt: number;
}

export function momentAt(clock: Clock, wallAt: number): Moment {
  return { wallAt, monotonicAt: clock.monotonic() + (wallAt - clock.now()) };
}

export function laterBy(moment: Moment, ms: number): Moment {
  return { wallAt: moment.wallAt + ms, monotonicAt: moment.monotonicAt + ms };
}

/** When it comes, by the wall clock as it is set now; not after now when it has come. */
export function wallTimeOf(clock: Clock, { wallAt, monotonicAt }: Moment): number {
  return Math.min(wallAt, Math.ceil(clock.now() + (monotonicAt - clock.monotonic())));
}

export function hasCome(clock: Clock, moment: Moment): boolean {
  return wallTimeOf(clock, moment) <= clock.now();
}
