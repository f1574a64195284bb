import { describe, expect, it } from 'vitest';
import { quotaWindowsIn, reportedLimitsIn } from '../../../../src/agent/codex/turn/quota-windows.ts';

const now = Date.UTC(2026, 6, 1, 12);

describe('the quota windows of Codex', () => {
  it.each([1e300, 1e308, 8.64e15, now, now / 1000 + 8 * 86_400 + 1, now / 1000 - 9 * 86_400, -1e300])(
    'ignore the reset time %s, which is not a date or too far away',
    (resetsAt) => {
      const told = { rateLimits: { primary: { usedPercent: 50, resetsAt }, secondary: { usedPercent: 1 } } };
      expect(quotaWindowsIn(told, now).map((window) => window.resetsAt)).toEqual([null, null]);
      const older = { rate_limits: { primary: { used_percent: 50, resets_in_seconds: resetsAt } } };
      expect(quotaWindowsIn(older, now).map((window) => window.resetsAt)).toEqual([null]);
    },
  );

  it('keep windows of the plan separate from those of other limits, whatever their names', () => {
    const of = (limitId: unknown) => quotaWindowsIn({ rateLimits: { limitId, primary: { usedPercent: 5 } } }, now)[0];
    for (const plan of ['codex', null, undefined, 7]) expect(of(plan)).toMatchObject({ name: 'primary' });
    for (const plan of ['codex', null, undefined, 7]) expect(of(plan)?.isOther).toBeUndefined();
    expect(of('codex_other')).toMatchObject({ name: 'codex_other primary', isOther: true });
    expect(of('x'.repeat(1_000_000))?.name.length).toBeLessThan(100);
  });
});

describe('the report of Codex on its limits', () => {
  it('is kept as it was made, in the spelling of Symphony', () => {
    const rateLimits = {
      limitId: 'codex',
      primary: { usedPercent: 5, windowDurationMins: 300, resetsAt: 7, remaining: 19, limit: 20 },
      secondary: null,
      credits: { hasCredits: true, unlimited: false, balance: '9.50' },
    };
    const kept = {
      limit_id: 'codex',
      primary: { used_percent: 5, window_duration_mins: 300, resets_at: 7, remaining: 19, limit: 20 },
      secondary: null,
      credits: { has_credits: true, unlimited: false, balance: '9.50' },
    };
    expect(reportedLimitsIn({ rateLimits })).toEqual(kept);
    expect(reportedLimitsIn({ msg: { rate_limits: kept } })).toEqual(kept);
    expect(reportedLimitsIn({})).toBeNull();
  });

  it('is bounded, whatever Codex sends', () => {
    const deep = { a: { b: { c: { d: 1 } } }, list: [1, 2], text: 'x'.repeat(1_000_000) };
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]));
    const kept = reportedLimitsIn({ rateLimits: { deep, ...many } });
    expect(JSON.stringify(kept).length).toBeLessThan(2_000);
    expect(kept?.deep).toEqual({});
  });
});
