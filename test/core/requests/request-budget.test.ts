import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayLeave, pressureOf, type WindowFacts } from '../../../src/core/requests/request-budget.ts';
import type { RequestImportance } from '../../../src/core/requests/request-caller.ts';
import { noPressure, type PressureStep, type RequestPressure } from '../../../src/core/requests/request-pressure.ts';
import { runs } from '../../property-runs.ts';
import { telling } from '../../telling.ts';

const now = 1_000_000;
const hourMs = 3_600_000;
const ranks: readonly PressureStep[] = ['free', 'warned', 'stretched', 'essential_only', 'closed'];

/** A window of an announced limit that ends in an hour, unless told otherwise. */
function windowOf(facts: Partial<WindowFacts>): WindowFacts {
  return { name: 'requests', limit: 100, used: 0, usedByOthers: null, freeAt: now + hourMs, ...facts };
}

function stepAt(facts: Partial<WindowFacts>): PressureStep {
  return pressureOf([windowOf(facts)], now).step;
}

function rankOf({ step }: RequestPressure): number {
  return ranks.indexOf(step);
}

const amounts = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 10_000 }), fc.maxSafeNat());
const anyWindow = fc
  .record({
    limit: amounts,
    essential: amounts,
    others: amounts,
    isSum: fc.boolean(),
    leftMs: fc.integer({ max: hourMs }),
  })
  .map(({ limit, essential, others, isSum, leftMs }) =>
    windowOf({ limit, used: essential + others, usedByOthers: isSum ? null : others, freeAt: now + leftMs }),
  );

describe('the pressure of one window', () => {
  // @conforms octo-6.3
  it.each<[used: number, step: PressureStep]>([
    [0, 'free'],
    [69, 'free'],
    [70, 'warned'],
    [84, 'warned'],
    [85, 'stretched'],
    [94, 'stretched'],
    [95, 'essential_only'],
    [99, 'essential_only'],
    [100, 'closed'],
    [250, 'closed'],
  ])('of 100 requests with %i used is %s', (used, step) => {
    expect(stepAt({ used })).toBe(step);
  });

  // @conforms octo-6.4
  it('reserves a tenth for essential requests, even when they used little', () => {
    expect(stepAt({ used: 89, usedByOthers: 89 })).toBe('stretched');
    expect(stepAt({ used: 90, usedByOthers: 90 })).toBe('essential_only');
    expect(stepAt({ used: 94, usedByOthers: 89 })).toBe('stretched');
    expect(stepAt({ used: 95, usedByOthers: 5 })).toBe('essential_only');
  });

  it('handles limits that are too small to share', () => {
    expect(stepAt({ limit: 0, used: 0 })).toBe('closed');
    expect(stepAt({ limit: 0, used: 0, usedByOthers: 0 })).toBe('closed');
    expect(stepAt({ limit: 1, used: 0 })).toBe('free');
    expect(stepAt({ limit: 1, used: 0, usedByOthers: 0 })).toBe('essential_only');
    expect(stepAt({ limit: 1, used: 1, usedByOthers: 0 })).toBe('closed');
    expect(stepAt({ limit: 2, used: 0, usedByOthers: 0 })).toBe('free');
    expect(stepAt({ limit: 2, used: 1, usedByOthers: 1 })).toBe('essential_only');
  });

  it('ends with the window', () => {
    expect(pressureOf([windowOf({ used: 100, freeAt: now })], now)).toEqual(noPressure);
    expect(pressureOf([windowOf({ used: 100, freeAt: now - hourMs })], now)).toEqual(noPressure);
    expect(pressureOf([windowOf({ limit: 0, used: 0, freeAt: now })], now)).toEqual(noPressure);
    expect(stepAt({ used: 100, freeAt: now + 1 })).toBe('closed');
  });

  it('says which requests are short and until when', () => {
    expect(pressureOf([windowOf({ name: 'requests_per_day', limit: 10_000, used: 7_000 })], now)).toEqual({
      step: 'warned',
      spacingMs: 0,
      until: now + hourMs,
      text: telling('requests_per_day', '7,000', '10,000'),
    });
    expect(pressureOf([windowOf({ used: 1 })], now)).toEqual(noPressure);
    expect(pressureOf([], now)).toEqual(noPressure);
  });

  it('never falls when more is used', () => {
    fc.assert(
      fc.property(anyWindow, amounts, fc.boolean(), (window, more, isCustody) => {
        const later = {
          ...window,
          used: window.used + more,
          usedByOthers: window.usedByOthers === null ? null : window.usedByOthers + (isCustody ? 0 : more),
        };
        const [before, after] = [pressureOf([window], now), pressureOf([later], now)];
        expect(rankOf(after)).toBeGreaterThanOrEqual(rankOf(before));
        if (before.step === after.step) expect(after.spacingMs).toBeGreaterThanOrEqual(before.spacingMs);
      }),
    );
  });
});

describe('the spacing', () => {
  it('makes the requests before essential_only last until the window ends', () => {
    expect(pressureOf([windowOf({ limit: 1_000, used: 850 })], now).spacingMs).toBe(hourMs / 100);
    expect(pressureOf([windowOf({ limit: 1_000, used: 949 })], now).spacingMs).toBe(hourMs);
  });

  it('uses the requests before the reserve when those are fewer', () => {
    expect(pressureOf([windowOf({ limit: 1_000, used: 850, usedByOthers: 850 })], now).spacingMs).toBe(hourMs / 50);
    expect(pressureOf([windowOf({ limit: 1_000, used: 850, usedByOthers: 100 })], now).spacingMs).toBe(hourMs / 100);
  });

  it('makes the requests for live runs last until the window ends', () => {
    expect(pressureOf([windowOf({ limit: 1_000, used: 950 })], now).spacingMs).toBe(hourMs / 50);
    expect(pressureOf([windowOf({ limit: 1_000, used: 900, usedByOthers: 900 })], now).spacingMs).toBe(hourMs / 100);
    expect(pressureOf([windowOf({ limit: 1_000, used: 999 })], now).spacingMs).toBe(hourMs);
  });

  it('applies while stretched and essential_only, and never exceeds the remaining time', () => {
    // Drawn at random hardly any window is nearly used up, and those are the ones that matter.
    const nearlyUsed = fc
      .record({ limit: fc.integer({ min: 1, max: 2_000 }), share: fc.double({ min: 0.8, max: 1.05, noNaN: true }) })
      .map(({ limit, share }) => windowOf({ limit, used: Math.floor(limit * share) }));
    fc.assert(
      fc.property(fc.oneof(anyWindow, nearlyUsed), (window) => {
        const { step, spacingMs } = pressureOf([window], now);
        expect(spacingMs > 0).toBe(step === 'stretched' || step === 'essential_only');
        expect(spacingMs).toBeLessThanOrEqual(Math.max(0, window.freeAt - now));
      }),
      { numRuns: runs(500) },
    );
  });

  it('keeps requests that follow it out of essential_only until the window ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 2_000 }), fc.integer({ min: 1_000, max: hourMs }), (limit, leftMs) => {
        const freeAt = now + leftMs;
        let used = Math.ceil(limit * 0.85);
        fc.pre(stepAt({ limit, used, freeAt }) === 'stretched');
        for (let at = now; at < freeAt; used += 1) {
          const { step, spacingMs } = pressureOf([windowOf({ limit, used, freeAt })], at);
          expect(step).toBe('stretched');
          at += spacingMs;
        }
      }),
      { numRuns: runs(50) },
    );
  });
});

describe('several windows', () => {
  it('have the highest pressure of all', () => {
    fc.assert(
      fc.property(fc.array(anyWindow, { maxLength: 6 }), (windows) => {
        const all = pressureOf(windows, now);
        const each = windows.map((window) => pressureOf([window], now));
        expect(rankOf(all)).toBe(Math.max(0, ...each.map(rankOf)));
        const hardest = each.filter(({ step }) => step === all.step);
        expect(all.spacingMs).toBe(Math.max(0, ...hardest.map(({ spacingMs }) => spacingMs)));
      }),
    );
  });

  it('give the same pressure in any order', () => {
    fc.assert(
      fc.property(fc.array(anyWindow, { maxLength: 6 }), (windows) => {
        const { step, spacingMs, until } = pressureOf(windows, now);
        expect(pressureOf(windows.toReversed(), now)).toMatchObject({ step, spacingMs, until });
      }),
    );
  });

  it('with the same step last as long as the longest', () => {
    const short = windowOf({ name: 'short', used: 100, freeAt: now + 1 });
    const long = windowOf({ name: 'long', used: 100, freeAt: now + hourMs });
    expect(pressureOf([short, long], now).until).toBe(now + hourMs);
    expect(pressureOf([long, short], now).text).toContain('long');
  });
});

describe('requests that may be sent', () => {
  it.each<[RequestImportance, readonly PressureStep[]]>([
    ['background', ['free', 'warned']],
    ['work', ['free', 'warned', 'stretched']],
    ['essential', ['free', 'warned', 'stretched', 'essential_only']],
  ])('of %s are those under %j', (importance, open) => {
    expect(ranks.filter((step) => mayLeave(importance, { ...noPressure, step }))).toEqual(open);
  });

  it('stay within every budget and its reserve, however often each caller asks', () => {
    const importances = fc.constantFrom<RequestImportance>('essential', 'work', 'background');
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.array(importances, { maxLength: 150 }), (limit, asked) => {
        let [used, usedByOthers] = [0, 0];
        for (const importance of asked) {
          if (!mayLeave(importance, pressureOf([windowOf({ limit, used, usedByOthers })], now))) continue;
          used += 1;
          if (importance !== 'essential') usedByOthers += 1;
        }
        expect(used).toBeLessThanOrEqual(limit);
        expect(usedByOthers * 100).toBeLessThanOrEqual(limit * 90);
        const essential = asked.filter((importance) => importance === 'essential').length;
        expect(used - usedByOthers).toBeGreaterThanOrEqual(Math.min(essential, Math.ceil(limit / 10)));
      }),
    );
  });
});
