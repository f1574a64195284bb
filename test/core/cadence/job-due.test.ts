import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueAfterRestart, jitterMs, nextDue, rescheduled } from '../../../src/core/cadence/job-due.ts';
import { runs } from '../../property-runs.ts';

const someMs = fc.integer({ min: 1000, max: 10 ** 9 });
const someTime = fc.integer({ min: 0, max: 10 ** 12 });

describe('the next due time', () => {
  it('is one interval after the previous due time, however late and long the run was', () => {
    expect(nextDue({ previousDue: 1000, intervalMs: 5000, now: 1000 })).toBe(6000);
    expect(nextDue({ previousDue: 1000, intervalMs: 5000, now: 5999 })).toBe(6000);
  });

  it('is after now: a due time that equals now counts as missed', () => {
    expect(nextDue({ previousDue: 1000, intervalMs: 5000, now: 6000 })).toBe(11_000);
  });

  it('skips missed runs: a laptop that slept for eight hours wakes to one run', () => {
    const slept = 8 * 3_600_000;
    expect(nextDue({ previousDue: 0, intervalMs: 15_000, now: slept + 1 })).toBe(slept + 15_000);
  });

  it('is one interval after its due time even when the job ran early', () => {
    expect(nextDue({ previousDue: 10_000, intervalMs: 5000, now: 7000 })).toBe(15_000);
  });

  it('is the first time on the grid after now and after the previous due time', () => {
    fc.assert(
      fc.property(someTime, someMs, someTime, (previousDue, intervalMs, now) => {
        const due = nextDue({ previousDue, intervalMs, now });
        expect((due - previousDue) % intervalMs).toBe(0);
        expect(due).toBeGreaterThan(now);
        expect(due).toBeGreaterThan(previousDue);
        expect(due - intervalMs <= now || due === previousDue + intervalMs).toBe(true);
      }),
    );
  });

  it('is after now with fractions of milliseconds too', () => {
    const fraction = fc.double({ min: 0, max: 10 ** 9, noNaN: true });
    fc.assert(
      fc.property(fraction, someMs, fraction, (previousDue, intervalMs, now) => {
        const due = nextDue({ previousDue, intervalMs, now });
        expect(due).toBeGreaterThan(now);
        expect(due).toBeGreaterThan(previousDue);
        expect(due).toBeLessThanOrEqual(Math.max(now, previousDue) + intervalMs + 1);
      }),
    );
    // Of these the difference divided by the interval is a little less than it should be.
    for (const [previousDue, intervalMs, missed] of [
      [14_188_563.591529535, 334_226, 12],
      [263_068_807.56744257, 182_056, 40],
      [2_616_265.367675119, 997_721, 8],
    ] as const) {
      const now = previousDue + missed * intervalMs;
      expect(nextDue({ previousDue, intervalMs, now })).toBe(previousDue + (missed + 1) * intervalMs);
    }
  });

  // @conforms 3.14
  it('does not drift: a thousand late and slow runs stay on the first grid', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4999 }), { minLength: 1000, maxLength: 1000 }), (delays) => {
        let due = 0;
        for (const delay of delays) due = nextDue({ previousDue: due, intervalMs: 5000, now: due + delay });
        expect(due).toBe(5_000_000);
      }),
      { numRuns: runs(20) },
    );
  });
});

describe('a due time from before a restart', () => {
  it.each([
    ['is kept', 4000, 4000],
    ['that has passed is now, once', -86_400_000, 0],
    ['is never further than an interval, whatever was done to the clock', 86_400_000, 10_000],
  ])('%s', (_what, ahead, delay) => {
    expect(dueAfterRestart({ nextDueAt: 1e12 + ahead, intervalMs: 10_000, now: 1e12 })).toBe(delay);
  });

  it('gives a wait between zero and one interval', () => {
    fc.assert(
      fc.property(fc.integer(), someMs, fc.integer(), (nextDueAt, intervalMs, now) => {
        const delay = dueAfterRestart({ nextDueAt, intervalMs, now });
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(intervalMs);
      }),
    );
  });
});

describe('jitter', () => {
  it('is at most a tenth of the interval and at most half a minute', () => {
    expect([0, 0.5, 1].map((chance) => jitterMs(60_000, chance))).toEqual([0, 3000, 6000]);
    expect([0, 0.5, 1].map((chance) => jitterMs(86_400_000, chance))).toEqual([0, 15_000, 30_000]);
    fc.assert(
      fc.property(someMs, fc.double({ min: 0, max: 1, noNaN: true }), (intervalMs, chance) => {
        const jitter = jitterMs(intervalMs, chance);
        expect(jitter).toBeGreaterThanOrEqual(0);
        expect(jitter).toBeLessThanOrEqual(Math.min(intervalMs / 10, 30_000));
        expect(Number.isInteger(jitter)).toBe(true);
      }),
    );
  });

  it('never shifts the grid: a delayed run keeps its later due times', () => {
    fc.assert(
      fc.property(someTime, someMs, fc.double({ min: 0, max: 1, noNaN: true }), (previousDue, intervalMs, chance) => {
        const now = previousDue + jitterMs(intervalMs, chance);
        expect(nextDue({ previousDue, intervalMs, now })).toBe(previousDue + intervalMs);
      }),
    );
  });
});

describe('a due time after a change of the interval', () => {
  const before = { lastStartAt: 100_000, due: 160_000, previousIntervalMs: 60_000, intervalMs: 60_000, now: 110_000 };

  it.each([
    ['shorter: the new interval after the last start', { intervalMs: 30_000 }, 130_000],
    ['much shorter: at once', { intervalMs: 5000 }, 110_000],
    ['a little shorter after a late start: no later than it was', { due: 155_000, intervalMs: 59_000 }, 155_000],
    ['longer: the new interval after the last start', { intervalMs: 300_000 }, 400_000],
    ['longer, when it was overdue even by that: at once', { intervalMs: 61_000, now: 170_000 }, 170_000],
    ['the same: as it was', { due: 155_000 }, 155_000],
    ['before its first run, shorter: within the new interval', { lastStartAt: null, intervalMs: 30_000 }, 140_000],
    ['before its first run, longer: as it was', { lastStartAt: null, intervalMs: 300_000 }, 160_000],
  ])('%s', (_what, change, due) => {
    expect(rescheduled({ ...before, ...change })).toBe(due);
  });

  it('is never before now, and never more than the new interval after now', () => {
    fc.assert(
      fc.property(
        someTime,
        someMs,
        someMs,
        someMs,
        someMs,
        (lastStartAt, ago, ahead, previousIntervalMs, intervalMs) => {
          fc.pre(previousIntervalMs !== intervalMs);
          const now = lastStartAt + ago;
          const due = rescheduled({ lastStartAt, due: now + ahead, previousIntervalMs, intervalMs, now });
          expect(due).toBeGreaterThanOrEqual(now);
          expect(due).toBeLessThanOrEqual(now + intervalMs);
          if (intervalMs < previousIntervalMs) expect(due).toBeLessThanOrEqual(now + ahead);
        },
      ),
    );
  });
});
