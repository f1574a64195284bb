import type { Clock } from '../../../clock/clock.ts';
import { type ClockReading, msBetween, readClocks } from './clock-reading.ts';

const firstWaitMs = 300_000;
const longestWaitMs = 3_600_000;

/**
 * When a failed full read may be tried again. A full read may have many pages and polls are frequent, so it has its own
 * wait, which doubles with each failure.
 */
export interface FullReadWait {
  isOver(now: ClockReading): boolean;
  /** Runs a full read; its outcome sets the wait for the next one. */
  during<Found>(read: () => Promise<Found>): Promise<Found>;
}

export function createFullReadWait(clock: Clock): FullReadWait {
  let failures = 0;
  let failedAt: ClockReading | null = null;
  return {
    isOver: (now) =>
      failedAt === null || msBetween(failedAt, now) >= Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1)),
    during: async (read) => {
      try {
        const found = await read();
        failures = 0;
        failedAt = null;
        return found;
      } catch (thrown) {
        failures += 1;
        failedAt = readClocks(clock);
        throw thrown;
      }
    },
  };
}
