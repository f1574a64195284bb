import { describe, expect, it } from 'vitest';
import { quotaWindowsIn } from '../../../../src/agent/codex/turn/quota-windows.ts';

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
