import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isQuiet, quietChangesAt, quietHoursText } from '../../../src/core/cadence/quiet-hours.ts';
import type { QuietHours } from '../../../src/core/settings.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `22:00-06:00` in a time zone. */
function hours(text: string, timeZone: string): QuietHours {
  const [fromMinute = 0, toMinute = 0] = text.split('-').map((time) => {
    const [h = 0, m = 0] = time.split(':').map(Number);
    return h * 60 + m;
  });
  return { fromMinute, toMinute, timeZone };
}

/** Every change in a stretch of time, each with the answer from then on. */
function changes(from: string, to: string, quiet: QuietHours): string[] {
  const found: string[] = [];
  let at = quietChangesAt(Date.parse(from), quiet);
  while (at < Date.parse(to)) {
    found.push(`${new Date(at).toISOString()} ${isQuiet(at, quiet) ? 'quiet' : 'loud'}`);
    at = quietChangesAt(at, quiet);
  }
  return found;
}

describe('quiet hours on an ordinary day', () => {
  it('include their first minute and exclude their end', () => {
    const night = hours('00:00-07:00', 'UTC');
    const at = (time: string): boolean => isQuiet(Date.parse(`2026-05-05T${time}Z`), night);
    expect([at('00:00:00.000'), at('06:59:59.999'), at('07:00:00.000'), at('23:59:59.999')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  // @conforms cadence.11
  it('cross midnight when they end before they begin', () => {
    const night = hours('22:00-06:00', 'UTC');
    expect(changes('2026-05-05T00:00:00Z', '2026-05-07T00:00:00Z', night)).toEqual([
      '2026-05-05T06:00:00.000Z loud',
      '2026-05-05T22:00:00.000Z quiet',
      '2026-05-06T06:00:00.000Z loud',
      '2026-05-06T22:00:00.000Z quiet',
    ]);
  });

  it('may end at the end of the day', () => {
    const window = ['2026-05-05T00:00:00Z', '2026-05-08T00:00:00Z'] as const;
    expect(changes(...window, hours('22:00-24:00', 'UTC'))).toEqual(changes(...window, hours('22:00-00:00', 'UTC')));
    expect(isQuiet(Date.parse('2026-05-05T00:00:00Z'), hours('22:00-24:00', 'UTC'))).toBe(false);
  });

  it('follow their time zone: five and a half hours earlier in Kolkata', () => {
    expect(changes('2026-05-05T00:00:00Z', '2026-05-06T00:00:00Z', hours('00:00-07:00', 'Asia/Kolkata'))).toEqual([
      '2026-05-05T01:30:00.000Z loud',
      '2026-05-05T18:30:00.000Z quiet',
    ]);
  });

  it('are written back in the form in which they are read', () => {
    for (const text of ['00:00-07:00', '22:05-06:59', '22:00-24:00', '09:00-00:01'])
      expect(quietHoursText(hours(text, 'UTC'))).toBe(text);
  });
});

describe('quiet hours at a clock change', () => {
  // @conforms cadence.12
  it('are an hour shorter in spring and an hour longer in autumn in Berlin', () => {
    const night = hours('00:00-07:00', 'Europe/Berlin');
    expect(changes('2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z', night)).toEqual([
      '2026-03-28T23:00:00.000Z quiet',
      '2026-03-29T05:00:00.000Z loud',
    ]);
    expect(changes('2026-10-24T12:00:00Z', '2026-10-25T12:00:00Z', night)).toEqual([
      '2026-10-24T22:00:00.000Z quiet',
      '2026-10-25T06:00:00.000Z loud',
    ]);
  });

  // @conforms cadence.11
  it('are correct across midnight in New York', () => {
    const night = hours('22:00-06:00', 'America/New_York');
    expect(changes('2026-03-07T12:00:00Z', '2026-03-08T12:00:00Z', night)).toEqual([
      '2026-03-08T03:00:00.000Z quiet',
      '2026-03-08T10:00:00.000Z loud',
    ]);
    expect(changes('2026-10-31T12:00:00Z', '2026-11-01T12:00:00Z', night)).toEqual([
      '2026-11-01T02:00:00.000Z quiet',
      '2026-11-01T11:00:00.000Z loud',
    ]);
  });

  it('handle the half-hour change of Lord Howe', () => {
    const night = hours('00:00-07:00', 'Australia/Lord_Howe');
    expect(changes('2026-04-04T06:00:00Z', '2026-04-05T06:00:00Z', night)).toEqual([
      '2026-04-04T13:00:00.000Z quiet',
      '2026-04-04T20:30:00.000Z loud',
    ]);
    expect(changes('2026-10-03T06:00:00Z', '2026-10-04T06:00:00Z', night)).toEqual([
      '2026-10-03T13:30:00.000Z quiet',
      '2026-10-03T20:00:00.000Z loud',
    ]);
  });

  it('end early when their end is skipped, and do not occur when they are skipped entirely', () => {
    expect(changes('2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z', hours('01:00-02:30', 'Europe/Berlin'))).toEqual([
      '2026-03-29T00:00:00.000Z quiet',
      '2026-03-29T01:00:00.000Z loud',
    ]);
    expect(changes('2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z', hours('02:10-02:50', 'Europe/Berlin'))).toEqual([
      '2026-03-30T00:10:00.000Z quiet',
      '2026-03-30T00:50:00.000Z loud',
    ]);
  });

  it('begin at the skip when their start is skipped', () => {
    expect(changes('2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z', hours('02:30-05:00', 'Europe/Berlin'))).toEqual([
      '2026-03-29T01:00:00.000Z quiet',
      '2026-03-29T03:00:00.000Z loud',
    ]);
  });

  it('occur twice when the wall clock repeats them', () => {
    expect(changes('2026-10-24T12:00:00Z', '2026-10-25T12:00:00Z', hours('02:10-02:50', 'Europe/Berlin'))).toEqual([
      '2026-10-25T00:10:00.000Z quiet',
      '2026-10-25T00:50:00.000Z loud',
      '2026-10-25T01:10:00.000Z quiet',
      '2026-10-25T01:50:00.000Z loud',
    ]);
  });

  it('continue over a missing day: Apia had no 30 December 2011', () => {
    expect(changes('2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z', hours('22:00-06:00', 'Pacific/Apia'))).toEqual([
      '2011-12-29T16:00:00.000Z loud',
      '2011-12-30T08:00:00.000Z quiet',
      '2011-12-30T16:00:00.000Z loud',
      '2011-12-31T08:00:00.000Z quiet',
    ]);
  });

  it('begin at the start of a day without midnight: Santiago changes its clocks at 24:00', () => {
    expect(changes('2026-09-05T12:00:00Z', '2026-09-06T20:00:00Z', hours('00:00-07:00', 'America/Santiago'))).toEqual([
      '2026-09-06T04:00:00.000Z quiet',
      '2026-09-06T10:00:00.000Z loud',
    ]);
  });
});

/** What a clock on the wall shows, asked another way than the code under test does. */
function wallMinute(at: number, timeZone: string): number {
  const [h = '', m = ''] = new Date(at)
    .toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })
    .split(':');
  return Number(h) * 60 + Number(m);
}

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'America/St_Johns',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'Europe/Dublin',
  'America/Santiago',
];
const anyHours = fc
  .record({
    fromMinute: fc.integer({ min: 0, max: 1439 }),
    toMinute: fc.integer({ min: 0, max: 1440 }),
    timeZone: fc.constantFrom(...zones),
  })
  .filter(({ fromMinute, toMinute }) => fromMinute !== toMinute % 1440);
/** From 1990 to 2040, a good part of them near a day on which clocks change. */
const anyInstant = fc.oneof(
  fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2040, 0) }),
  fc
    .tuple(
      fc.constantFrom(
        '2026-03-29T01:00Z',
        '2026-10-25T01:00Z',
        '2026-03-08T07:00Z',
        '2026-11-01T06:00Z',
        '2011-12-30T10:00Z',
      ),
      fc.integer({ min: -day, max: day }),
    )
    .map(([near, shift]) => Date.parse(near) + shift),
);

describe('for any instant, any hours and any time zone', () => {
  it('is quiet exactly while the wall clock is within the hours', () => {
    fc.assert(
      fc.property(anyInstant, anyHours, (at, quiet) => {
        const shown = wallMinute(at, quiet.timeZone);
        const sinceBeginning = (shown - quiet.fromMinute + 1440) % 1440;
        const length = (quiet.toMinute - quiet.fromMinute + 1440) % 1440;
        expect(isQuiet(at, quiet)).toBe(sinceBeginning < length);
      }),
    );
  });

  it('keeps its answer until the next change, and changes it there', () => {
    fc.assert(
      fc.property(
        anyInstant,
        anyHours,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }),
        (at, quiet, parts) => {
          const change = quietChangesAt(at, quiet);
          const now = isQuiet(at, quiet);
          expect(Number.isInteger(change)).toBe(true);
          expect(change).toBeGreaterThan(at);
          expect(change - at).toBeLessThanOrEqual(2 * day);
          expect(isQuiet(change, quiet)).toBe(!now);
          expect(isQuiet(change - 1, quiet)).toBe(now);
          for (const part of parts) expect(isQuiet(at + Math.floor(part * (change - 1 - at)), quiet)).toBe(now);
        },
      ),
    );
  });

  it('misses no change, checked every five minutes around the days of clock changes', () => {
    const lookThrough = (from: number, quiet: QuietHours): void => {
      let change = quietChangesAt(from, quiet);
      for (let at = from; at < from + 3 * day; at += 5 * minute) {
        while (change <= at) change = quietChangesAt(change, quiet);
        // Otherwise the change before this one was not told.
        expect(isQuiet(at, quiet)).toBe(!isQuiet(change, quiet));
      }
    };
    for (const timeZone of zones) {
      for (const near of ['2026-03-27', '2026-10-23', '2026-04-03', '2026-11-01'])
        lookThrough(Date.parse(near), hours('01:45-02:20', timeZone));
    }
  });
});

it('does not hang when start and end are the same', () => {
  const at = Date.UTC(2026, 0);
  expect(quietChangesAt(at, hours('07:00-07:00', 'UTC'))).toBeGreaterThan(at);
});
