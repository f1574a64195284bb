import type { Clock } from '../../../clock/clock.ts';
import { type Moment, momentOf, msBetween } from './moment.ts';

const firstWaitMs = 300_000;
const longestWaitMs = 3_600_000;

/**
 * When a full read that failed may be tried again. Such a read may have many pages, so it has a wait of its own, which
 * doubles with each failure: a poll comes much more often.
 */
export interface FullReadWait {
  isOver(now: Moment): boolean;
  /** Makes a full read; how it ends decides about the next one. */
  during<Found>(read: () => Promise<Found>): Promise<Found>;
}

export function createFullReadWait(clock: Clock): FullReadWait {
  let failures = 0;
  let failedAt: Moment | null = null;
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
        failedAt = momentOf(clock);
        throw thrown;
      }
    },
  };
}
