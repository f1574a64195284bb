import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timeAxis } from '../../dashboard/data/run/time-axis.ts';

const start = Date.parse('2026-01-01T10:00:00.000Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
const run = (id: string, from: number, to: number | null) => ({
  run_id: id,
  started_at: at(from),
  ended_at: to === null ? null : at(to),
});

describe('the time axis of an issue', () => {
  it('has its runs and the waits between them at their times', () => {
    const { runs, now } = timeAxis([run('second', 60, 100), run('first', 0, 40)], 0, false);
    expect(runs.get('first')).toMatchObject({ part: { left: 0, width: 40 }, wait: null });
    expect(runs.get('second')).toMatchObject({
      part: { left: 60, width: 40, ms: 40_000 },
      wait: { left: 40, width: 20, ms: 20_000, isShortened: false },
    });
    expect(now).toBeNull();
  });

  it('draws a long wait shorter, and keeps the runs on one scale', () => {
    const day = 24 * 3_600;
    const { runs } = timeAxis([run('first', 0, 10), run('second', day, day + 30)], 0, false);
    expect(runs.get('second')?.wait).toMatchObject({ isShortened: true, ms: (day - 10) * 1_000, width: 50 });
    expect([runs.get('first')?.part.width, runs.get('second')?.part.width]).toEqual([12.5, 37.5]);
  });

  it('shows how long the issue has waited since its last run', () => {
    const { now } = timeAxis([run('first', 0, 40)], start + 60_000, true);
    expect(now).toMatchObject({ ms: 20_000, isShortened: false });
    expect((now?.left ?? 0) + (now?.width ?? 0)).toBeCloseTo(100);
    expect(timeAxis([run('first', 0, null)], start + 60_000, true).now).toBeNull();
    expect(timeAxis([], start, true)).toMatchObject({ now: null, marks: [] });
  });

  it('keeps everything on the axis and labels apart, for any clocks', () => {
    const time = fc.integer({ min: -5_000, max: 500_000 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(time, fc.option(time)), { maxLength: 12 }),
        time,
        fc.boolean(),
        (all, now, waits) => {
          const runs = all.map(([from, to], index) => run(String(index), from, to));
          const axis = timeAxis(runs, start + now * 1_000, waits);
          const parts = [...axis.runs.values()].flatMap(({ part, wait }) => [part, ...(wait === null ? [] : [wait])]);
          for (const { left, width, ms } of [...parts, ...(axis.now === null ? [] : [axis.now])]) {
            expect(left).toBeGreaterThanOrEqual(0);
            expect(width).toBeGreaterThanOrEqual(0);
            expect(left + width).toBeLessThanOrEqual(100.000_1);
            expect(ms).toBeGreaterThanOrEqual(0);
          }
          const places = axis.marks.map(({ left }) => left);
          expect(places.every((left, index) => index === 0 || left - (places[index - 1] ?? 0) >= 13)).toBe(true);
        },
      ),
    );
  });
});
