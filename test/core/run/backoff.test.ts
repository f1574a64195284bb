import fc from 'fast-check';
import { expect, it } from 'vitest';
import { failureDelayMs, loginDelayMs, quotaDelayMs } from '../../../src/core/run/backoff.ts';

/** Seed 4, Backoff Schedule. */
// @conforms 2.9, 4.75, 4.74
it('doubles from ten seconds up to the limit, as in seed 4', () => {
  const schedule = [1, 2, 3, 4, 5, 6, 7].map((failures) => failureDelayMs(failures, 300_000, 0));
  expect(schedule).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

it('follows the formula of seed 2 for every number of failures and every limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 10 ** 9 }), (failures, longest) => {
      expect(failureDelayMs(failures, longest, 0)).toBe(Math.min(10_000 * 2 ** (failures - 1), longest));
    }),
  );
});

// @conforms scheduling.2
it('adds jitter of at most a tenth and never subtracts any', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 1, max: 10 ** 9 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, longest, chance) => {
        const plain = failureDelayMs(failures, longest, 0);
        const jittered = failureDelayMs(failures, longest, chance);
        expect(plain).toBeLessThanOrEqual(longest);
        expect(jittered).toBeGreaterThanOrEqual(plain);
        expect(jittered).toBeLessThanOrEqual(Math.ceil(plain * 1.1));
      },
    ),
  );
});

it('grows to an hour for a quota and for a login, with at most a minute of jitter', () => {
  const minutes = (delays: number[]): number[] => delays.map((delay) => delay / 60_000);
  expect(minutes([-1, 0, 1, 5, 6, 99].map((waits) => quotaDelayMs(waits, null, 0)))).toEqual([1, 1, 2, 32, 60, 60]);
  expect(minutes([-1, 0, 1, 3, 4, 99].map((waits) => loginDelayMs(waits, 0)))).toEqual([5, 5, 10, 40, 60, 60]);
  expect(minutes([quotaDelayMs(0, null, 1), loginDelayMs(0, 1), quotaDelayMs(0, 300 * 60_000, 1)])).toEqual([
    1.1, 5.5, 301,
  ]);
});
