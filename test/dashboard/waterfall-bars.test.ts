import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axisFor, barsOf, lastedMs, tickWords } from '../../dashboard/data/run/waterfall-bars.ts';
import type { Span } from '../../src/client/schema/run.ts';

const start = Date.parse('2026-01-01T10:00:00.000Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
const span = (from: number, to: number | null, more: Partial<Span> = {}): Span => ({
  kind: 'turn',
  name: 'turn 1',
  started_at: at(from),
  ended_at: to === null ? null : at(to),
  is_ok: null,
  ...more,
});

describe('the bars of a run', () => {
  it('have the start and length of their spans, in percent of the axis', () => {
    const run = { started_at: at(0), ended_at: at(50) };
    const [whole, turn] = barsOf(run, [span(10, 35)], { ms: 100_000, ticks: [] }, 0);
    expect([whole?.kind, whole?.left, whole?.width]).toEqual(['run', 0, 50]);
    expect([turn?.left, turn?.width, turn?.ms, turn?.isOpen]).toEqual([10, 25, 25_000, false]);
  });

  it('extend to now while their spans are open', () => {
    const run = { started_at: at(0), ended_at: null };
    const [, turn] = barsOf(run, [span(10, null)], { ms: 100_000, ticks: [] }, start + 40_000);
    expect([turn?.width, turn?.isOpen]).toEqual([30, true]);
  });

  it('end with their run if it ended first', () => {
    const [, turn] = barsOf({ started_at: at(0), ended_at: at(20) }, [span(10, null)], { ms: 20_000, ticks: [] }, 0);
    expect([turn?.left, turn?.width, turn?.isOpen]).toEqual([50, 50, false]);
  });

  // @conforms dashboard.18
  it('never exceed the axis or their run, for any clocks and spans', () => {
    const time = fc.integer({ min: -500, max: 2_000 });
    const drawn = fc.array(fc.tuple(time, fc.option(time)), { maxLength: 10 });
    fc.assert(
      fc.property(drawn, fc.option(time), time, fc.integer({ min: 0, max: 2_000_000 }), (spans, end, now, longest) => {
        const run = { started_at: at(0), ended_at: end === null ? null : at(end) };
        const bars = barsOf(
          run,
          spans.map(([from, to]) => span(from, to)),
          axisFor(longest),
          start + now * 1_000,
        );
        for (const { left, width, ms } of bars) {
          expect(left).toBeGreaterThanOrEqual(0);
          expect(width).toBeGreaterThanOrEqual(0);
          expect(left + width).toBeLessThanOrEqual(100.000_1);
          expect(ms).toBeLessThanOrEqual(lastedMs(run, start + now * 1_000));
        }
      }),
    );
  });
});

describe('the axis', () => {
  it('starts at zero and has a few evenly spaced marks for any length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 90 * 24 * 3_600_000 }), (longest) => {
        const { ms, ticks } = axisFor(longest);
        expect(ms).toBeGreaterThanOrEqual(longest);
        expect(ticks[0]).toBe(0);
        expect(ticks.length).toBeLessThanOrEqual(7);
        expect(ticks.length).toBeGreaterThan(1);
        expect(ticks.at(-1)).toBeLessThanOrEqual(ms);
        expect(new Set(ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? 0))).size).toBe(1);
      }),
    );
  });

  it('labels each mark with a distinct time, and none without space', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 90 * 24 * 3_600_000 }), (longest) => {
        const axis = axisFor(longest);
        const said = axis.ticks.map((tick) => tickWords(axis, tick)).filter((words) => words !== '');
        expect(said[0]).toBe('start');
        expect(new Set(said).size).toBe(said.length);
        expect(said.length).toBeGreaterThan(1);
      }),
    );
    const axis = axisFor(90_000);
    expect(axis.ticks.map((tick) => tickWords(axis, tick))).toEqual([
      'start',
      '0:15',
      '0:30',
      '0:45',
      '1:00',
      '1:15',
      '',
    ]);
  });
});
