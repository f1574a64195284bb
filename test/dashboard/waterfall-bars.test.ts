import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { barsOf, lastedMs } from '../../dashboard/data/run/waterfall-bars.ts';
import type { Span } from '../../src/client/schema/run.ts';

const start = Date.parse('2026-01-01T10:00:00.000Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
const span = (from: number, to: number | null): Span => ({
  kind: 'turn',
  name: 'turn 1',
  started_at: at(from),
  ended_at: to === null ? null : at(to),
  is_ok: null,
});

describe('the bars of a run', () => {
  it('have the start and length of their spans, in percent of the run', () => {
    const [turn] = barsOf({ started_at: at(0), ended_at: at(100) }, [span(10, 35)], 0);
    expect([turn?.left, turn?.width, turn?.ms, turn?.isOpen]).toEqual([10, 25, 25_000, false]);
  });

  it('extend to now while their spans are open', () => {
    const [turn] = barsOf({ started_at: at(0), ended_at: null }, [span(10, null)], start + 40_000);
    expect([turn?.left, turn?.width, turn?.isOpen]).toEqual([25, 75, true]);
  });

  it('end with their run if it ended first', () => {
    const [turn] = barsOf({ started_at: at(0), ended_at: at(20) }, [span(10, null)], 0);
    expect([turn?.left, turn?.width, turn?.isOpen]).toEqual([50, 50, false]);
  });

  // @conforms dashboard.18
  it('never exceed their run, for any clocks and spans', () => {
    const time = fc.integer({ min: -500, max: 2_000 });
    const drawn = fc.array(fc.tuple(time, fc.option(time)), { maxLength: 10 });
    fc.assert(
      fc.property(drawn, fc.option(time), time, (spans, end, now) => {
        const run = { started_at: at(0), ended_at: end === null ? null : at(end) };
        const nowMs = start + now * 1_000;
        const bars = barsOf(
          run,
          spans.map(([from, to]) => span(from, to)),
          nowMs,
        );
        for (const { left, width, ms } of bars) {
          expect(left).toBeGreaterThanOrEqual(0);
          expect(width).toBeGreaterThanOrEqual(0);
          expect(left + width).toBeLessThanOrEqual(100.000_1);
          expect(ms).toBeLessThanOrEqual(lastedMs(run, nowMs));
        }
      }),
    );
  });
});
