import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextUtcMidnight, utcDay } from '../../../src/core/cadence/utc-day.ts';
import {
  isDayLimit,
  type LimitFinding,
  limitHold,
  limitsBeforeStart,
  limitsInFlight,
  limitsOfDay,
  limitsSwitchedOff,
} from '../../../src/core/run/limits.ts';
import type { LimitSettings } from '../../../src/core/settings.ts';
import { settings } from '../../fake/settings.ts';
import { telling } from '../../telling.ts';

const hourMs = 3_600_000;
const { limits } = settings({ limits: { usdPerIssue: 20, usdPerDay: 2.5 } });
const nothing = { runs: 0, tokens: 0, wallMs: 0, microUsd: 0 };
const idleDay = { tokens: 0, microUsd: 0 };
const off: LimitSettings = {
  runsPerIssue: 0,
  tokensPerIssue: 0,
  runWallTimeMs: 0,
  issueWallTimeMs: 0,
  usdPerIssue: 0,
  tokensPerDay: 0,
  usdPerDay: 0,
};
const inFlight = (issue: Partial<typeof nothing>, runWallMs = 0, day = idleDay) =>
  limitsInFlight({ issue: { ...nothing, ...issue }, runWallMs, day }, limits);
const beforeStart = (issue: Partial<typeof nothing>, day = idleDay) =>
  limitsBeforeStart({ issue: { ...nothing, ...issue }, day }, limits);

describe('a run in flight', () => {
  it('that has spent little finds nothing', () => {
    expect(inFlight({ runs: 23, tokens: 15_999_999, wallMs: 19 * hourMs, microUsd: 15_999_999 }, 3 * hourMs)).toEqual(
      [],
    );
  });

  // @conforms limits.4
  it('is warned from four fifths of a limit on, with the amounts', () => {
    expect(inFlight({ tokens: 16_400_000 })).toEqual([
      {
        limit: 'tokens_per_issue',
        level: 'warning',
        used: 16_400_000,
        allowed: 20_000_000,
        text: telling('16,400,000', '20,000,000', 'limits.tokens_per_issue'),
      },
    ]);
    expect(inFlight({ tokens: 16_000_000 })).toHaveLength(1);
  });

  // @conforms limits.5
  it('has reached a limit at the limit, not one beyond it', () => {
    expect(inFlight({ tokens: 19_999_999 })).toMatchObject([{ level: 'warning' }]);
    expect(inFlight({ tokens: 20_000_000 })).toMatchObject([{ level: 'reached' }]);
  });

  it.each([
    [{ wallMs: 0 }, 4.25 * hourMs, 'run_wall_time_ms', '4 h 15 min', '4 h'],
    [{ wallMs: 25.5 * hourMs }, 0, 'issue_wall_time_ms', '25 h 30 min', '24 h'],
    [{ microUsd: 20_412_300 }, 0, 'usd_per_issue', '$20.4123', '$20.00'],
  ])('%j and %d ms of its own reach %s', (spent, runWallMs, limit, used, allowed) => {
    expect(inFlight(spent, runWallMs)).toMatchObject([
      { limit, level: 'reached', text: telling(used, allowed, `limits.${limit}`) },
    ]);
  });

  it('may be the last one: the limit of runs only warns it, even when it was lowered meanwhile', () => {
    expect(inFlight({ runs: 24 })).toMatchObject([{ limit: 'runs_per_issue', level: 'warning' }]);
    expect(inFlight({ runs: 30 })).toMatchObject([{ limit: 'runs_per_issue', level: 'warning' }]);
    expect(inFlight({ runs: 31 })).toMatchObject([
      { limit: 'runs_per_issue', level: 'warning', text: telling(31, 30, 'limits.runs_per_issue') },
    ]);
  });

  it('hears of the limits of the day too, after its own', () => {
    const day = { tokens: 100_000_000, microUsd: 2_000_000 };
    expect(inFlight({ tokens: 20_000_000 }, 0, day)).toMatchObject([
      { limit: 'tokens_per_issue', level: 'reached' },
      { limit: 'tokens_per_day', level: 'reached', text: telling('100,000,000', 'limits.tokens_per_day') },
      { limit: 'usd_per_day', level: 'warning', text: telling('$2.00', '$2.50', 'limits.usd_per_day') },
    ]);
  });
});

describe('before a start', () => {
  // @conforms limits.6
  it('the run after the last one is refused', () => {
    expect(beforeStart({ runs: 29 })).toMatchObject([{ limit: 'runs_per_issue', level: 'warning' }]);
    expect(beforeStart({ runs: 30 })).toMatchObject([{ limit: 'runs_per_issue', level: 'reached' }]);
  });

  it('what was spent up to a limit refuses it', () => {
    const spent = { tokens: 20_000_000, wallMs: 24 * hourMs, microUsd: 20_000_000 };
    const reached = ['tokens_per_issue', 'issue_wall_time_ms', 'usd_per_issue', 'tokens_per_day', 'usd_per_day'];
    const found = beforeStart(spent, { tokens: 100_000_000, microUsd: 2_500_000 });
    expect(found.map(({ limit, level }) => [limit, level])).toEqual(reached.map((limit) => [limit, 'reached']));
  });
});

describe('whatever was spent', () => {
  const amount = fc.oneof(fc.nat(200), fc.nat({ max: 10 ** 9 }), fc.nat({ max: 10 ** 15 }));
  const dollars = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 10 ** 9 }).map((micro) => micro / 1_000_000),
  );
  const someLimits = fc.record({
    runsPerIssue: amount,
    tokensPerIssue: amount,
    runWallTimeMs: amount,
    issueWallTimeMs: amount,
    usdPerIssue: dollars,
    tokensPerDay: amount,
    usdPerDay: dollars,
  });
  const someSpent = fc.record({
    issue: fc.record({ runs: amount, tokens: amount, wallMs: amount, microUsd: amount }),
    // A wall clock may be set back.
    runWallMs: fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
    day: fc.record({ tokens: amount, microUsd: amount }),
  });
  type Spent = typeof someSpent extends fc.Arbitrary<infer T> ? T : never;
  const rules = [limitsInFlight, limitsBeforeStart, ({ day }: Spent, rule: LimitSettings) => limitsOfDay(day, rule)];
  const rank = (found: readonly LimitFinding[], limit: string): number =>
    ['warning', 'reached'].indexOf(found.find((finding) => finding.limit === limit)?.level ?? '') + 1;

  // @conforms limits.7
  it('a limit that is switched off finds nothing', () => {
    fc.assert(
      fc.property(someSpent, (spent) => {
        for (const rule of rules) expect(rule(spent, off)).toEqual([]);
      }),
    );
  });

  // @conforms limits.8
  it('spending more never makes a finding milder', () => {
    const plus = (left: Spent, right: Spent): Spent => ({
      issue: {
        runs: left.issue.runs + right.issue.runs,
        tokens: left.issue.tokens + right.issue.tokens,
        wallMs: left.issue.wallMs + right.issue.wallMs,
        microUsd: left.issue.microUsd + right.issue.microUsd,
      },
      runWallMs: left.runWallMs + Math.abs(right.runWallMs),
      day: { tokens: left.day.tokens + right.day.tokens, microUsd: left.day.microUsd + right.day.microUsd },
    });
    fc.assert(
      fc.property(someSpent, someSpent, someLimits, (spent, more, rule) => {
        for (const look of rules) {
          const [before, after] = [look(spent, rule), look(plus(spent, more), rule)];
          for (const { limit } of before) expect(rank(after, limit)).toBeGreaterThanOrEqual(rank(before, limit));
        }
      }),
    );
  });

  it('a finding is right about its amounts, and its text has them as numbers that can be read', () => {
    fc.assert(
      fc.property(someSpent, someLimits, (spent, rule) => {
        for (const { limit, level, used, allowed, text } of rules.flatMap((look) => look(spent, rule))) {
          expect(allowed).toBeGreaterThan(0);
          expect(used).toBeGreaterThanOrEqual(0);
          if (level === 'reached') expect(used).toBeGreaterThanOrEqual(allowed);
          else if (limit !== 'runs_per_issue') expect(used).toBeLessThan(allowed);
          expect(text).toContain(`limits.${limit}`);
          expect(text.match(/\d[\d,.]*/g)?.length).toBeGreaterThanOrEqual(2);
          expect(text).not.toMatch(/NaN|undefined|Infinity|(?<![.\d])\d{4}/);
        }
      }),
    );
  });

  it('money is compared to the millionth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10 ** 12 }), (microUsd) => {
        const rule = { ...off, usdPerDay: Number((microUsd / 1_000_000).toFixed(6)) };
        expect(limitsOfDay({ tokens: 0, microUsd }, rule)).toMatchObject([{ level: 'reached' }]);
        expect(limitsOfDay({ tokens: 0, microUsd: microUsd - 1 }, rule)).not.toMatchObject([{ level: 'reached' }]);
      }),
    );
  });
});

describe('a limit that is reached', () => {
  const first = (found: readonly LimitFinding[]): LimitFinding => found[0] as LimitFinding;

  // @conforms limits.9
  it('holds its issue with the amount and the one command that gives a new allowance', () => {
    const finding = first(inFlight({ tokens: 20_100_000 }));
    expect(isDayLimit(finding)).toBe(false);
    expect(limitHold(finding, 'BAT-7')).toEqual({
      code: 'limit_reached',
      reason: telling('20,100,000', '20,000,000', 'limits.tokens_per_issue', 'baton issue retry BAT-7'),
    });
  });

  it('of the day tells until when, and how to go on before that', () => {
    const found = limitsOfDay({ tokens: 10 ** 8, microUsd: 10 ** 8 }, limits);
    expect(found).toHaveLength(2);
    for (const finding of found) {
      expect(isDayLimit(finding)).toBe(true);
      expect(limitHold(finding, 'BAT-7')).toEqual({
        code: 'limit_reached',
        reason: telling(`limits.${finding.limit}`, '00:00 UTC', 'baton resume'),
      });
    }
  });

  it.each([
    ['BAT-7', 'BAT-7'],
    ['my/repo#12', 'my/repo#12'],
    ['$(rm -rf ~)', "'$(rm -rf ~)'"],
    ["it's", `'it'"'"'s'`],
    ['--all', "'--all'"],
    ['two\nlines\u001b[31m', "'two lines'"],
    ['', "''"],
  ])('its command can be copied whatever the identifier: %j', (identifier, word) => {
    const { reason } = limitHold(first(beforeStart({ runs: 30 })), identifier);
    expect(reason.slice(reason.indexOf('baton '))).toBe(`baton issue retry ${word}`);
  });
});

it('limits that a file switched off are named, those that are off by default are not', () => {
  expect(limitsSwitchedOff(settings())).toEqual([]);
  expect(limitsSwitchedOff(settings({ limits: { tokensPerDay: 0, usdPerDay: 0 }, agent: { maxRetries: 0 } }))).toEqual([
    'limits.tokens_per_day',
    'agent.max_retries',
  ]);
});

describe('the day', () => {
  it('is that of UTC', () => {
    expect(utcDay(Date.UTC(2026, 10, 15, 23, 59, 59, 999))).toBe('2026-11-15');
    expect(nextUtcMidnight(Date.UTC(2026, 10, 15, 23, 59, 59, 999))).toBe(Date.UTC(2026, 10, 16));
    expect(nextUtcMidnight(Date.UTC(2026, 10, 16))).toBe(Date.UTC(2026, 10, 17));
  });

  it('ends where the next one begins', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4 * 10 ** 12 }), (at) => {
        const midnight = nextUtcMidnight(at);
        expect(midnight).toBeGreaterThan(at);
        expect(utcDay(midnight - 1)).toBe(utcDay(at));
        expect(utcDay(midnight)).not.toBe(utcDay(at));
      }),
    );
  });
});
