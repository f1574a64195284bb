import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayOf, daysOf, lastDays, mostDays, readRange } from '../../dashboard/data/costs/day-range.ts';

const today = '2026-11-16';
const nothing = { from: '', to: '', days: '' };

describe('a range of days in the address', () => {
  it('defaults to the last thirty days if the address has no valid range', () => {
    const usual = { from: '2026-10-18', to: today };
    expect(readRange(nothing, today)).toEqual(usual);
    expect(readRange({ ...nothing, days: 'seven' }, today)).toEqual(usual);
    expect(readRange({ ...nothing, days: '-7' }, today)).toEqual(usual);
    expect(readRange({ from: '2026-02-30', to: today, days: '' }, today)).toEqual(usual);
    expect(readRange({ from: '0002-11-01', to: today, days: '' }, today)).toEqual(usual);
    expect(readRange({ from: today, to: '', days: '' }, today)).toEqual(usual);
  });

  it('includes today and has the number of days in the address', () => {
    expect(readRange({ ...nothing, days: '7' }, today)).toEqual({ from: '2026-11-10', to: today });
    expect(daysOf(lastDays(90, today))).toHaveLength(90);
    expect(readRange({ ...nothing, days: '0' }, today)).toEqual({ from: today, to: today });
  });

  it('accepts two days in any order and includes both', () => {
    const range = readRange({ from: '2026-11-03', to: '2026-11-01', days: '7' }, today);
    expect(daysOf(range)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
  });

  // @conforms dashboard.12
  it('is never too long or reversed, and keeps its last day, for any input', () => {
    const text = fc.oneof(
      fc.string(),
      fc
        .date({ noInvalidDate: true, min: new Date('1000-01-01'), max: new Date('2999-12-31') })
        .map((at) => dayOf(+at)),
    );
    fc.assert(
      fc.property(text, text, fc.oneof(fc.string(), fc.nat().map(String)), (from, to, days) => {
        const range = readRange({ from, to, days }, today);
        const all = daysOf(range);
        expect(all[0]).toBe(range.from);
        expect(all.at(-1)).toBe(range.to);
        expect(all.length).toBeLessThanOrEqual(mostDays);
      }),
    );
  });
});
