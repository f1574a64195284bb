import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quotaResetTime } from '../../../../src/agent/codex/turn/quota-reset.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A Tuesday. */
const now = Date.parse('2026-11-17T09:15:20Z');
const at = (raw: string, when = now): number | null => quotaResetTime(raw, [], when);

const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati'];
const usual = process.env.TZ;

/** The time zone of this process, which a daemon gets from its environment. */
function setZone(zone: string | undefined): void {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
}
beforeEach(() => setZone('UTC'));
afterEach(() => setZone(usual));

/** The format of Codex 0.166.0: only the time when it is today. */
function codexWords(reset: number, zone: string): string {
  const parts = (options: Intl.DateTimeFormatOptions, when = reset): string =>
    new Intl.DateTimeFormat('en-US', { timeZone: zone, ...options }).format(when);
  const time = parts({ hour: 'numeric', minute: '2-digit', hour12: true }).replaceAll(/\s/g, ' ');
  const full: Intl.DateTimeFormatOptions = { year: 'numeric', month: 'numeric', day: 'numeric' };
  if (parts(full) === parts(full, now)) return time;
  const number = Number(parts({ day: 'numeric' }));
  const suffix = number > 10 && number < 20 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return `${parts({ month: 'short' })} ${number}${suffix}, ${parts({ year: 'numeric' })} ${time}`;
}

describe('the reset time of a quota', () => {
  it.each([
    ['or try again at 10:15 AM.', '2026-11-17T10:16:00Z'],
    ['or try again at 4:51 AM.', '2026-11-18T04:52:00Z'],
    ['Try again at 12:00 AM.', '2026-11-18T00:01:00Z'],
    ['Try again at 12:30 PM.', '2026-11-17T12:31:00Z'],
    ['try again at Nov 20th, 2026 4:51 AM.', '2026-11-20T04:52:00Z'],
    ['try again at Nov 21st, 2026 11:59 PM.', '2026-11-22T00:00:00Z'],
    ['try again at November 20, 2026, 4:51 pm', '2026-11-20T16:52:00Z'],
  ])('is read from %j and is after the named minute', (raw, expected) => {
    expect(new Date(at(raw) ?? 0)).toEqual(new Date(expected));
  });

  it.each([
    ['Please try again in 6m0s.', 6 * minute],
    ['or try again in 3 days 4 hours 12 minutes.', 3 * day + 4 * hour + 12 * minute],
    ['Try again in 2 hours 5 minutes.', 2 * hour + 5 * minute],
    ['Try again in 2 hours, and 5 minutes.', 2 * hour + 5 * minute],
    ['Please try again in 20ms.', 20],
    ['{"resets_in_seconds":60}', minute],
    ['resets_at: 1100000000, or try again in 5m', 5 * minute],
  ])('is read from %j', (raw, wait) => {
    expect(at(raw)).toBe(now + wait);
  });

  it.each([
    'try again later',
    'try again in a while',
    'try again at 25:00 AM',
    'try again at 0:10 AM',
    'try again at 13:10 PM',
    'try again at 4:60 AM',
    'try again at 4:51',
    'try again at Feb 30th, 2027 4:51 AM',
    'try again at Foo 20th, 2026 4:51 AM',
    // In the past, or further away than any window.
    'try again at Nov 10th, 2026 4:51 AM',
    'try again at Nov 26th, 2026 4:51 AM',
    'try again at Nov 18th, 9999 4:51 AM',
    'try again in 9 days',
    `try again in ${'9'.repeat(400)} seconds`,
    '{"resets_at":99999999999}',
    '',
  ])('is null for %j', (raw) => {
    expect(at(raw)).toBeNull();
  });

  it('is not tomorrow when the named minute passes before the text arrives', () => {
    expect(at('try again at 9:14 AM')).toBeNull();
    expect(at('try again at 9:15 AM')).toBe(Date.parse('2026-11-17T09:16:00Z'));
    const midnight = Date.parse('2026-11-18T00:00:02Z');
    expect(at('try again at 11:59 PM', midnight)).toBeNull();
  });

  // @conforms codex.17
  it.each(zones)('is the time that Codex meant in the zone %s', (zone) => {
    setZone(zone);
    const resets = fc.integer({ min: 1_000, max: 7 * day });
    fc.assert(
      fc.property(resets, (wait) => {
        const reset = now + wait;
        const read = at(`visit the page or try again at ${codexWords(reset, zone)}.`);
        expect(read).not.toBeNull();
        expect((read ?? 0) - reset).toBeGreaterThanOrEqual(0);
        expect((read ?? 0) - reset).toBeLessThanOrEqual(minute);
      }),
    );
  });

  // @conforms codex.18
  it('is in the future and within eight days for any text', () => {
    const numbers = fc.integer({ min: -1, max: 100_000 });
    const words = fc.oneof(
      fc.string(),
      fc.tuple(numbers, numbers, fc.constantFrom('AM', 'pm', '')).map(([h, m, half]) => `${h}:${m} ${half}`),
      fc.tuple(numbers, numbers).map(([d, y]) => `Nov ${d}th, ${y} 4:51 AM`),
    );
    fc.assert(
      fc.property(fc.constantFrom('at ', 'in ', 'resets_at=', ''), words, (before, said) => {
        const read = at(`try again ${before}${said}`);
        if (read === null) return;
        expect(read).toBeGreaterThan(now);
        expect(read - now).toBeLessThanOrEqual(8 * day);
      }),
    );
  });

  it('is found fast in hostile text', () => {
    const before = process.cpuUsage();
    for (const piece of ['1 a ', '1a', '1 and ', 'try again at Nov ', 'try again in 1.'])
      at(`try again in ${piece.repeat(20_000)}`);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});
