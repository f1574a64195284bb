import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axisEnd } from '../../dashboard/data/costs/chart-scale.ts';
import { isCostUnknown, type Sum, sumUsage, tokenParts } from '../../dashboard/data/costs/usage-sums.ts';
import type { UsageReport } from '../../src/client/schema/system.ts';

const count = fc.nat({ max: 1_000_000 });
const sum: fc.Arbitrary<Sum> = fc
  .record({ input: count, cached: count, output: count, reasoning: count, cost: count, runs: fc.nat({ max: 9 }) })
  .map(({ input, cached, output, reasoning, cost, runs }) => ({
    input_tokens: input,
    cached_input_tokens: Math.min(cached, input),
    output_tokens: output,
    reasoning_tokens: Math.min(reasoning, output),
    total_tokens: input + output,
    cost_usd: cost,
    runs,
  }));
const name = fc.constantFrom('implementer', 'reviewer', 'judge');
const report: fc.Arbitrary<UsageReport> = fc
  .record({
    total: sum,
    by_day: fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 5 }), sum), { selector: ([day]) => day }),
    by_role: fc.uniqueArray(fc.tuple(name, sum), { selector: ([role]) => role }),
    by_issue: fc.array(fc.tuple(fc.nat({ max: 99 }), sum)),
  })
  .map(({ total, by_day, by_role, by_issue }) => ({
    from_day: '2026-11-01',
    to_day: '2026-11-05',
    total,
    by_day: by_day.map(([day, each]) => ({ ...each, day: `2026-11-0${day}` })),
    by_role: by_role.map(([role, each]) => ({ ...each, role })),
    by_issue: by_issue.map(([id, each]) => ({
      ...each,
      issue_id: `i${id}`,
      issue_identifier: `BAT-${id}`,
      title: null,
    })),
  }));

const tokensOf = (sums: readonly Sum[]): number => sums.reduce((all, { total_tokens }) => all + total_tokens, 0);

describe('the usage of several projects', () => {
  it('is null before the first report', () => {
    expect(sumUsage([])).toBeNull();
  });

  // @conforms dashboard.8
  it('has every day of the range once, in order, and counts every token exactly once in each list', () => {
    fc.assert(
      fc.property(fc.array(report, { minLength: 1, maxLength: 3 }), (reports) => {
        const sums = sumUsage(reports.map((each, index) => ({ project: `p${index}`, report: each })));
        expect(sums?.days.map((day) => day.name)).toEqual([1, 2, 3, 4, 5].map((day) => `2026-11-0${day}`));
        expect(tokensOf(sums?.days ?? [])).toBe(tokensOf(reports.flatMap(({ by_day }) => by_day)));
        expect(tokensOf(sums?.roles ?? [])).toBe(tokensOf(reports.flatMap(({ by_role }) => by_role)));
        expect(tokensOf(sums?.issues ?? [])).toBe(tokensOf(reports.flatMap(({ by_issue }) => by_issue)));
        expect(sums?.total.total_tokens).toBe(tokensOf(reports.map(({ total }) => total)));
        expect(new Set(sums?.roles.map((role) => role.name)).size).toBe(sums?.roles.length);
        const issues = sums?.issues.map(({ total_tokens }) => total_tokens) ?? [];
        expect(issues).toEqual([...issues].sort((a, b) => b - a));
      }),
    );
  });

  it('counts a cached token once per bar', () => {
    fc.assert(
      fc.property(sum, (each) => {
        const { input, cached, output } = tokenParts(each);
        expect(input + cached + output).toBe(each.total_tokens);
        expect(Math.min(input, cached, output)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  // @conforms dashboard.9
  it('distinguishes an unknown cost from zero: only tokens without a price are unknown', () => {
    const used = { ...fc.sample(sum, 1)[0], total_tokens: 10 } as Sum;
    expect(isCostUnknown({ ...used, cost_usd: 0 })).toBe(true);
    expect(isCostUnknown({ ...used, cost_usd: 0.001 })).toBe(false);
    expect(isCostUnknown({ ...used, cost_usd: 0, total_tokens: 0 })).toBe(false);
  });
});

describe('the axis of a chart', () => {
  it('ends at the next number that is easy to read', () => {
    expect([0, 1, 3, 7, 99, 100, 101, 1_843_220].map(axisEnd)).toEqual([1, 1, 5, 10, 100, 100, 200, 2_000_000]);
  });

  it('fits the largest value without dwarfing it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (largest) => {
        const end = axisEnd(largest);
        expect(end).toBeGreaterThanOrEqual(largest);
        expect(end).toBeLessThanOrEqual(largest * 2.5);
      }),
    );
  });
});
