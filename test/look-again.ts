import { setTimeout as wait } from 'node:timers/promises';

/** Between two looks: at first short, so that what comes soon is seen soon. */
const shortestMs = 10;
const longestMs = 100;

/**
 * Waits before the next look at a condition: a tenth of what was waited since `from`, a value of `performance.now`. A look
 * may ask a daemon or read the whole process table, and many tests look at once.
 */
export function lookAgain(from: number): Promise<void> {
  return wait(Math.min(Math.max((performance.now() - from) / 10, shortestMs), longestMs));
}
