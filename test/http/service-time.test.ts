import { describe, expect, it } from 'vitest';
import { readRetryAfter, readServiceTime } from '../../src/http/service-time.ts';

const now = Date.UTC(2026, 0, 1, 12);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function dateOf(at: number): string {
  return new Date(at).toUTCString();
}

/** When to come again, read at `now` in an answer whose clock is the same as ours. */
function retryAfter(value: string | undefined): number | null {
  return readRetryAfter(value, readServiceTime(dateOf(now), now), now);
}

describe('Retry-After', () => {
  it.each<[value: string, waitMs: number]>([
    ['30', 30_000],
    [' 5 ', 5_000],
    ['0', 0],
    ['1.5', 1_500],
    ['Thu, 01 Jan 2026 12:05:00 GMT', 5 * minuteMs],
    ['Thursday, 01-Jan-26 12:05:00 GMT', 5 * minuteMs],
    ['Thu Jan  1 12:05:00 2026', 5 * minuteMs],
  ])('%s is %i ms from now', (value, waitMs) => {
    expect(retryAfter(value)).toBe(now + waitMs);
  });

  it.each([
    '',
    '-5',
    '5s',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    'soon',
    'soon 2030',
    'Mon, nonsense',
    '5, 5',
    '2026-01-01T13:00:00Z',
    '<script>',
  ])('ignores %j', (value) => {
    expect(retryAfter(value)).toBeNull();
  });

  it('ignores a missing header', () => {
    expect(retryAfter(undefined)).toBeNull();
  });
});

describe('the time of a service', () => {
  it.each([undefined, '', 'nonsense', '5'])('equals ours when its Date is %j', (date) => {
    const time = readServiceTime(date, now);
    expect(time.now).toBe(now);
    expect(time.toOurs(now + hourMs)).toBe(now + hourMs);
  });

  it('equals ours when the two differ by less than the precision of dates', () => {
    expect(readServiceTime(dateOf(now - 59_000), now).toOurs(now + hourMs)).toBe(now + hourMs);
  });

  it.each([-72, -2, 2, 72])('is converted to ours when our clock is %i hours off', (hours) => {
    const theirs = now + hours * hourMs;
    const time = readServiceTime(dateOf(theirs), now);
    expect(time.now).toBe(theirs);
    expect(time.toOurs(theirs + 10 * minuteMs)).toBe(now + 10 * minuteMs);
    expect(readRetryAfter(dateOf(theirs + 10 * minuteMs), time, now)).toBe(now + 10 * minuteMs);
    expect(readRetryAfter('600', time, now)).toBe(now + 10 * minuteMs);
  });

  it('is ignored when it makes other times impossible', () => {
    const stale = readServiceTime(dateOf(now - 72 * hourMs), now);
    expect(stale.toOurs(now + 10 * minuteMs)).toBe(now + 10 * minuteMs);
    const ahead = readServiceTime(dateOf(now + 72 * hourMs), now);
    expect(ahead.toOurs(now + 10 * minuteMs)).toBe(now + 10 * minuteMs);
  });
});
