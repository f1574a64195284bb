import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chanceOfShares, middleOf, shareOf } from '../../../src/core/prompt/intervals.ts';
import { runs } from '../../property-runs.ts';

const cases = fc
  .integer({ min: 1, max: 400 })
  .chain((of) => fc.record({ of: fc.constant(of), count: fc.integer({ min: 0, max: of }) }));

describe('the interval of a share', () => {
  // Published values of the Wilson interval for 95 %.
  it.each([
    [0, 10, 0, 0.2775],
    [1, 3, 0.0615, 0.7923],
    [3, 3, 0.4385, 1],
    [8, 10, 0.4902, 0.9433],
    [81, 263, 0.2553, 0.3662],
  ])('of %i of %i is known', (count, of, low, high) => {
    expect(shareOf(count, of).low).toBeCloseTo(low, 4);
    expect(shareOf(count, of).high).toBeCloseTo(high, 4);
  });

  it('is there only with a case', () => {
    expect(shareOf(0, 0)).toEqual({ count: 0, of: 0, low: null, high: null });
  });

  it('has the share, lies between 0 and 1, and is that of the rest the other way round', () => {
    fc.assert(
      fc.property(cases, ({ count, of }) => {
        const { low, high } = shareOf(count, of);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(count / of);
        expect(high).toBeGreaterThanOrEqual(count / of);
        expect(high).toBeLessThanOrEqual(1);
        expect(1 - (shareOf(of - count, of).high ?? 0)).toBeCloseTo(low ?? 1, 9);
        const ten = shareOf(count * 10, of * 10);
        expect((ten.high ?? 0) - (ten.low ?? 0)).toBeLessThan((high ?? 0) - (low ?? 0));
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('the interval of a median', () => {
  // The places of the two values, from tables of the sign test.
  it.each([
    [5, 'range', 1, 5],
    [6, 'confidence', 1, 6],
    [9, 'confidence', 2, 8],
    [20, 'confidence', 6, 15],
    [100, 'confidence', 40, 61],
  ])('of %i values is a %s', (of, interval, low, high) => {
    const values = Array.from({ length: of }, (_, place) => place + 1);
    expect(middleOf(values)).toEqual({ of, median: (of + 1) / 2, low, high, interval });
  });

  it('has the median, whatever the order of the values', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 300 }), (values) => {
        const middle = middleOf(values);
        expect(middle.low).toBeLessThanOrEqual(middle.median ?? -1);
        expect(middle.high).toBeGreaterThanOrEqual(middle.median ?? 1_001);
        expect(middleOf(values.toReversed())).toEqual(middle);
        expect(middle.interval).toBe(values.length < 6 ? 'range' : 'confidence');
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('the chance of a difference between two shares', () => {
  // Fisher's tea, and three of three against none of three, which is no proof.
  it.each([
    [3, 4, 1, 4, 0.4857],
    [3, 3, 0, 3, 0.1],
    [4, 4, 0, 4, 0.0286],
    [1, 12, 9, 12, 0.0028],
    [5, 5, 5, 5, 1],
  ])('%i of %i against %i of %i is known', (a, ofA, b, ofB, chance) => {
    expect(chanceOfShares(shareOf(a, ofA), shareOf(b, ofB))).toBeCloseTo(chance, 4);
  });

  it('is the same in both directions, and 1 for equal shares', () => {
    fc.assert(
      fc.property(cases, cases, (one, other) => {
        const [a, b] = [shareOf(one.count, one.of), shareOf(other.count, other.of)];
        expect(chanceOfShares(a, b)).toBeCloseTo(chanceOfShares(b, a), 6);
        expect(chanceOfShares(a, a)).toBeCloseTo(1, 5);
      }),
      { numRuns: runs(200) },
    );
  });
});
