import type { Clock } from '../../../clock/clock.ts';

/** A time on both clocks: the monotonic one may stop while the machine sleeps, the other one may be set. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

export function msBetween(earlier: Moment, later: Moment): number {
  return Math.max(later.monotonic - earlier.monotonic, Math.abs(later.wall - earlier.wall));
}
