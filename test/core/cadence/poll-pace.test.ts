import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterFailures, type PaceFacts, paceOf } from '../../../src/core/cadence/poll-pace.ts';
import type { PollingSettings } from '../../../src/core/settings.ts';
import { settings } from '../../fake/settings.ts';

const minute = 60_000;
const hour = 60 * minute;
const noon = Date.UTC(2026, 4, 5, 12);
const quietHours = { fromMinute: 0, toMinute: 7 * 60, timeZone: 'UTC' };

const fixed = settings({ intervalMs: 30_000 }).polling;
const adaptive: PollingSettings = { ...fixed, mode: 'adaptive' };
const withNights: PollingSettings = { ...adaptive, quietHours };

const pace = (facts: Partial<PaceFacts>) =>
  paceOf({ polling: adaptive, now: noon, lastActivityAt: noon, isLocal: false, ...facts });

describe('a fixed pace', () => {
  it('never changes, whatever happened and at any hour', () => {
    for (const lastActivityAt of [null, 0, noon - minute, noon, noon + hour]) {
      for (const now of [noon, Date.UTC(2026, 4, 5, 3)])
        expect(pace({ polling: { ...fixed, quietHours }, now, lastActivityAt })).toEqual({
          mode: 'fixed',
          intervalMs: 30_000,
        });
    }
  });
});

describe('an adaptive pace', () => {
  // @conforms 3.23, 3.24, 3.25
  it.each([
    ['just now', 0, 'active', 15_000],
    ['a moment before ten minutes', 10 * minute - 1, 'active', 15_000],
    ['ten minutes', 10 * minute, 'idle', 60_000],
    ['a moment before an hour', hour - 1, 'idle', 60_000],
    ['an hour', hour, 'dormant', 300_000],
    ['a year', 365 * 24 * hour, 'dormant', 300_000],
  ])('%s after the last activity', (_what, ageMs, mode, intervalMs) => {
    expect(pace({ lastActivityAt: noon - ageMs })).toEqual({ mode, intervalMs });
  });

  it('is dormant when nothing has ever happened', () => {
    expect(pace({ lastActivityAt: null })).toEqual({ mode: 'dormant', intervalMs: 300_000 });
  });

  it('treats activity in the future as activity now, because the clock was set back', () => {
    const now = pace({ lastActivityAt: noon });
    expect(pace({ lastActivityAt: noon + 365 * 24 * hour })).toEqual(now);
  });

  it('is dormant in quiet hours whatever happens', () => {
    const now = Date.UTC(2026, 4, 5, 6, 59);
    for (const lastActivityAt of [null, 0, now - minute, now, now + hour])
      expect(pace({ polling: withNights, now, lastActivityAt })).toEqual({
        mode: 'quiet',
        intervalMs: 300_000,
      });
  });

  it('returns to the previous pace when quiet hours end', () => {
    const now = Date.UTC(2026, 4, 5, 7);
    expect(pace({ polling: withNights, now, lastActivityAt: now - minute }).mode).toBe('active');
  });
});

describe('a tracker on this machine', () => {
  it('is polled at least every five seconds in every mode', () => {
    for (const [facts, mode] of [
      [{ polling: fixed }, 'fixed'],
      [{ lastActivityAt: noon }, 'active'],
      [{ lastActivityAt: noon - 20 * minute }, 'idle'],
      [{ lastActivityAt: null }, 'dormant'],
      [{ polling: withNights, now: Date.UTC(2026, 4, 5, 3) }, 'quiet'],
    ] as const)
      expect(pace({ ...facts, isLocal: true })).toMatchObject({ mode, intervalMs: 5_000 });
  });

  it('is polled more often when the file says so', () => {
    expect(pace({ polling: { ...fixed, intervalMs: 200 }, isLocal: true }).intervalMs).toBe(200);
  });
});

const someMs = fc.integer({ min: 1, max: 10 ** 9 });

describe('for any settings and any activity', () => {
  const anyPolling = fc
    .record({
      activeIntervalMs: someMs,
      idleIntervalMs: someMs,
      dormantIntervalMs: someMs,
      idleAfterMs: someMs,
      more: someMs,
      nights: fc.boolean(),
    })
    .map(
      ({ more, nights, ...rest }): PollingSettings => ({
        ...adaptive,
        ...rest,
        dormantAfterMs: rest.idleAfterMs + more,
        quietHours: nights ? quietHours : null,
      }),
    );
  /** So long ago that every mode comes up, in the future too. */
  const anyAge = fc.oneof(someMs, fc.integer({ min: -hour, max: 48 * hour }));
  const anyFacts = fc
    .record({
      polling: anyPolling,
      now: fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) }),
      age: fc.option(anyAge),
      isLocal: fc.boolean(),
    })
    .map(({ age, ...rest }): PaceFacts => ({ ...rest, lastActivityAt: age === null ? null : rest.now - age }));

  it('returns to the fast pace with any activity, except in quiet hours', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(paceOf({ ...facts, lastActivityAt: facts.now }).mode).toBe(
          facts.polling.quietHours !== null && new Date(facts.now).getUTCHours() < 7 ? 'quiet' : 'active',
        );
      }),
    );
  });
});

describe('the wait after failed polls', () => {
  it('doubles up to the longest wait', () => {
    expect([0, 1, 2, 3, 4, 5, 6].map((failures) => afterFailures(30_000, failures, 300_000))).toEqual([
      30_000, 60_000, 120_000, 240_000, 300_000, 300_000, 300_000,
    ]);
  });

  it('is never shorter than the interval, never longer than allowed, and never shrinks', () => {
    fc.assert(
      fc.property(someMs, fc.integer({ min: -1, max: 10 ** 6 }), someMs, (interval, failures, longest) => {
        const wait = afterFailures(interval, failures, longest);
        expect(wait).toBeGreaterThanOrEqual(interval);
        expect(wait).toBeLessThanOrEqual(Math.max(interval, longest));
        expect(afterFailures(interval, failures + 1, longest)).toBeGreaterThanOrEqual(wait);
        expect(Number.isSafeInteger(wait)).toBe(true);
      }),
    );
  });

  it('is the interval itself when that is longer than the longest wait', () => {
    expect([0, 1, 50].map((failures) => afterFailures(600_000, failures, 300_000))).toEqual([
      600_000, 600_000, 600_000,
    ]);
  });
});
