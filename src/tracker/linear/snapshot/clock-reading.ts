import type { Clock } from '../../../clock/clock.ts';

/** A time on both clocks: the monotonic one may stop while the machine sleeps, the wall clock may be set back. */
export interface ClockReading {
  readonly monotonic: number;
  readonly wall: number;
}

export function readClocks(clock: Clock): ClockReading {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

export function msBetween(earlier: ClockReading, later: ClockReading): number {
  return Math.max(later.monotonic - earlier.monotonic, Math.abs(later.wall - earlier.wall));
}
