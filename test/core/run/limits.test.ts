import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextUtcMidnight, utcDay } from '../../../src/core/cadence/utc-day.ts';
import {
  boundsOfBill,
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

describe('a run in progress', () => {
  it('with little spending has no finding', () => {
    expect(inFlight({ runs: 23, tokens: 15_999_999, wallMs: 19 * hourMs, microUsd: 15_999_999 }, 3 * hourMs)).toEqual(
      [],
    );
  });

  // @conforms limits.4
  it('has a warning from four fifths of a limit on, with the amounts', () => {
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
  it('reaches a limit exactly at its value', () => {
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

  it('may finish as the last one: the limit of runs only warns, even when it was lowered meanwhile', () => {
    expect(inFlight({ runs: 24 })).toMatchObject([{ limit: 'runs_per_issue', level: 'warning' }]);
    expect(inFlight({ runs: 30 })).toMatchObject([{ limit: 'runs_per_issue', level: 'warning' }]);
    expect(inFlight({ runs: 31 })).toMatchObject([
      { limit: 'runs_per_issue', level: 'warning', text: telling(31, 30, 'limits.runs_per_issue') },
    ]);
  });

  it('has the limits of the day after its own', () => {
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
  it('refuses the run after the last allowed one', () => {
    expect(beforeStart({ runs: 29 })).toMatchObject([{ limit: 'runs_per_issue', level: 'warning' }]);
    expect(beforeStart({ runs: 30 })).toMatchObject([{ limit: 'runs_per_issue', level: 'reached' }]);
  });

  it('refuses a run when the spending has reached a limit', () => {
    const spent = { tokens: 20_000_000, wallMs: 24 * hourMs, microUsd: 20_000_000 };
    const reached = ['tokens_per_issue', 'issue_wall_time_ms', 'usd_per_issue', 'tokens_per_day', 'usd_per_day'];
    const found = beforeStart(spent, { tokens: 100_000_000, microUsd: 2_500_000 });
    expect(found.map(({ limit, level }) => [limit, level])).toEqual(reached.map((limit) => [limit, 'reached']));
  });
});

describe('any spending', () => {
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
  it('gives no finding for a limit that is off', () => {
    fc.assert(
      fc.property(someSpent, (spent) => {
        for (const rule of rules) expect(rule(spent, off)).toEqual([]);
      }),
    );
  });

  // @conforms limits.8
  it('never gives a milder finding for more spending', () => {
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

  it('gives findings with correct amounts, and texts with readable numbers', () => {
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

  it('is compared to the millionth of a dollar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10 ** 12 }), (microUsd) => {
        const rule = { ...off, usdPerDay: Number((microUsd / 1_000_000).toFixed(6)) };
        expect(limitsOfDay({ tokens: 0, microUsd }, rule)).toMatchObject([{ level: 'reached' }]);
        expect(limitsOfDay({ tokens: 0, microUsd: microUsd - 1 }, rule)).not.toMatchObject([{ level: 'reached' }]);
      }),
    );
  });
});

describe('a reached limit', () => {
  const first = (found: readonly LimitFinding[]): LimitFinding => found[0] as LimitFinding;

  // @conforms limits.9
  it('holds its issue with the amount and the command that gives a new allowance', () => {
    const finding = first(inFlight({ tokens: 20_100_000 }));
    expect(isDayLimit(finding)).toBe(false);
    expect(limitHold(finding, 'BAT-7')).toEqual({
      code: 'limit_reached',
      reason: telling('20,100,000', '20,000,000', 'limits.tokens_per_issue', 'baton issue retry BAT-7'),
    });
  });

  it('of the day says until when, and how to continue earlier', () => {
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
    ['two\nlines\u001b[31m', "'two lines␛[31m'"],
    ['', "''"],
  ])('has a command that can be copied for any identifier: %j', (identifier, word) => {
    const { reason } = limitHold(first(beforeStart({ runs: 30 })), identifier);
    expect(reason.slice(reason.indexOf('baton '))).toBe(`baton issue retry ${word}`);
  });
});

it('names the limits that a file switched off, and not those that are off by default', () => {
  expect(limitsSwitchedOff(settings())).toEqual([]);
  expect(limitsSwitchedOff(settings({ limits: { tokensPerDay: 0, usdPerDay: 0 }, agent: { maxRetries: 0 } }))).toEqual([
    'limits.tokens_per_day',
    'limits.usd_per_day',
    'agent.max_retries',
  ]);
});

describe('what bounds the bill', () => {
  const prices = { '*': { input: 1, output: 1, cachedInput: null } };
  it.each([
    [
      'money and tokens, where a price is known',
      'tokens',
      settings({ agent: { prices } }),
      ['usd_per_day', 'tokens_per_day'],
    ],
    ['money and tokens, where the agent reports a cost', 'cost', settings(), ['usd_per_day', 'tokens_per_day']],
    ['tokens, where no price is known', 'tokens', settings(), ['tokens_per_day']],
    [
      'runs and time, and what the agent reports, where it may report nothing',
      'if_told',
      settings(),
      ['runs_per_issue', 'run_wall_time_ms', 'usd_per_day', 'tokens_per_day'],
    ],
    [
      'runs and time, where the limits of the day are off',
      'cost',
      settings({ limits: { tokensPerDay: 0, usdPerDay: 0 } }),
      ['runs_per_issue', 'run_wall_time_ms'],
    ],
    ['nothing, where all of them are off', 'if_told', settings({ limits: off }), []],
  ] as const)('is %s', (_, reports, given, expected) => {
    expect(boundsOfBill(given, () => reports).map((text) => text.split(/[.:]/)[1])).toEqual(expected);
  });
});

describe('the day', () => {
  it('is the UTC day', () => {
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
