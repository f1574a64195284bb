import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RequestCause } from '../../src/core/requests/request-caller.ts';
import type { HttpProvider } from '../../src/http/http.ts';
import { type Departure, Limiter } from '../../src/http/limiter.ts';
import type { CountedRequests } from '../../src/http/request-tally.ts';
import type { RequestBudget, RequestHistory } from '../../src/http/spent-requests.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { runs } from '../property-runs.ts';
import { telling } from '../telling.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const startAt = Date.UTC(2026, 0, 1, 10, 0, 30);

const provider: HttpProvider = { name: 'service', announced: () => [], refusal: () => null };
const perHour = (requestsPerHour: number): RequestBudget => ({ requestsPerHour, requestsPerDay: null });
const perDay = (requestsPerDay: number): RequestBudget => ({ requestsPerHour: null, requestsPerDay });

let clock: SimulatedClock;
let limiter: Limiter;
let budget: RequestBudget;

beforeEach(() => {
  clock = new SimulatedClock({ startAt });
  limiter = new Limiter(provider, clock);
  budget = perHour(100);
});

function depart(cause: RequestCause, by = limiter, source = 'store'): Departure {
  const departure = by.admit({ caller: { job: 'test', cause }, route: '/things', budget, source }, memoryLogger());
  departure.lost();
  return departure;
}

function tryDepart(cause: RequestCause, by = limiter): Departure | null {
  try {
    return depart(cause, by);
  } catch {
    return null;
  }
}

/** How many of `count` left. */
function departMany(cause: RequestCause, count: number): number {
  return Array.from({ length: count }, () => tryDepart(cause)).filter((departure) => departure !== null).length;
}

function refusedUntil(cause: RequestCause): number {
  try {
    depart(cause);
  } catch (error) {
    return (error as { details: { until: number } }).details.until;
  }
  throw new Error('it left');
}

/** The store as a budget sees it: what all limiters that write to it have sent. */
function sharedStore(): { write(departure: Departure, cause: RequestCause): void; read(): Promise<RequestHistory> } {
  const rows: { readonly at: number; readonly cause: string }[] = [];
  const bucketsOf = (widthMs: number): CountedRequests[] =>
    rows.map(({ at, cause }) => ({ beginsAt: Math.floor(at / widthMs) * widthMs, cause, count: 1 }));
  return {
    write(departure, cause) {
      rows.push({ at: departure.at, cause });
      departure.written();
    },
    read: async () => ({ minutes: bucketsOf(minuteMs), days: bucketsOf(dayMs) }),
  };
}

describe('a budget of an hour', () => {
  it('allows work up to nine tenths, and essential requests up to the last one', () => {
    expect(departMany('poll', 500)).toBe(90);
    expect(departMany('running', 500)).toBe(10);
    expect(limiter.pressure(budget).step).toBe('closed');
    expect(limiter.windows(budget)).toEqual([
      { name: 'requests_per_hour', source: 'budget', limit: 100, used: 100, resetAt: null },
    ]);
  });

  it('stops background requests at 85 % and work at 95 %', () => {
    expect(departMany('running', 80)).toBe(80);
    expect(departMany('sweep', 50)).toBe(5);
    expect(limiter.pressure(budget)).toMatchObject({ step: 'stretched' });
    expect(departMany('poll', 50)).toBe(10);
    expect(limiter.pressure(budget)).toMatchObject({ step: 'essential_only' });
  });

  it('opens exactly when enough of the last hour has passed for each caller', async () => {
    departMany('running', 96);
    await clock.advance(10 * minuteMs);
    departMany('running', 4);
    // The first minute began thirty seconds before the start.
    const opensAt = startAt - 30_000 + 61 * minuteMs;
    expect(refusedUntil('running')).toBe(opensAt);
    expect(refusedUntil('sweep')).toBe(opensAt);
    await clock.advance(opensAt - clock.now() - 1);
    expect(tryDepart('running')).toBeNull();
    await clock.advance(1);
    expect(tryDepart('sweep')).not.toBeNull();
    expect(limiter.windows(budget)).toMatchObject([{ used: 5 }]);
  });

  it('names for each caller the time at which it may send again', async () => {
    departMany('running', 1);
    await clock.advance(5 * minuteMs);
    departMany('running', 99);
    const custodyAt = startAt - 30_000 + 61 * minuteMs;
    expect(refusedUntil('running')).toBe(custodyAt);
    expect(refusedUntil('poll')).toBe(custodyAt + 5 * minuteMs);
    expect(limiter.pressure(budget)).toMatchObject({ step: 'closed', until: custodyAt });
  });

  it('stays stretched until plenty of requests are left', async () => {
    departMany('running', 60);
    await clock.advance(20 * minuteMs);
    departMany('running', 25);
    expect(limiter.pressure(budget)).toMatchObject({
      step: 'stretched',
      until: startAt - 30_000 + 61 * minuteMs,
      spacingMs: Math.ceil((40.5 * minuteMs) / 10),
    });
  });

  // @conforms requests.1
  it('never exceeds the limit in any hour, with any pattern, even when clocks are set back', async () => {
    const moves = fc.record({
      cause: fc.constantFrom<RequestCause>('running', 'poll', 'sweep'),
      count: fc.integer({ min: 0, max: 20 }),
      waitMs: fc.integer({ min: 0, max: 20 * minuteMs }),
      backMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: dayMs })),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30 }), fc.array(moves, { maxLength: 30 }), async (limit, script) => {
        clock = new SimulatedClock({ startAt });
        limiter = new Limiter(provider, clock);
        budget = perHour(limit);
        const left: { readonly at: number; readonly isCustody: boolean }[] = [];
        for (const { cause, count, waitMs, backMs } of script) {
          const departed = departMany(cause, count);
          for (let each = 0; each < departed; each += 1)
            left.push({ at: clock.monotonic(), isCustody: cause === 'running' });
          await clock.advance(waitMs);
          clock.jumpWall(-backMs);
        }
        for (const { at } of left) {
          const hour = left.filter((other) => other.at > at - hourMs && other.at <= at);
          expect(hour.length).toBeLessThanOrEqual(limit);
          expect(hour.filter(({ isCustody }) => !isCustody).length * 10).toBeLessThanOrEqual(limit * 9);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it('counts a minute that a clock set back enters twice from its second start', async () => {
    budget = perHour(2);
    departMany('running', 1);
    clock.jumpWall(-30 * minuteMs);
    await clock.advance(30 * minuteMs);
    departMany('running', 1);
    // The first is out of the hour by now; the second, in the same minute of the wall clock, is not.
    await clock.advance(31 * minuteMs);
    expect(departMany('running', 2)).toBeLessThanOrEqual(1);
  });

  it('is whole again after an hour, although the clock was set back by a year', async () => {
    departMany('running', 100);
    clock.jumpWall(-365 * dayMs);
    expect(refusedUntil('running')).toBeLessThanOrEqual(clock.now() + 61 * minuteMs);
    await clock.advance(61 * minuteMs);
    expect(departMany('running', 100)).toBe(100);
  });

  it('is whole again after the machine slept', () => {
    departMany('running', 100);
    clock.jumpWall(8 * hourMs);
    expect(tryDepart('sweep')).not.toBeNull();
  });

  it('of zero sends nothing, and of one only essential requests', () => {
    budget = perHour(0);
    expect(refusedUntil('running')).toBeGreaterThan(clock.now());
    budget = perHour(1);
    expect(refusedUntil('poll')).toBeGreaterThan(clock.now());
    expect(departMany('running', 5)).toBe(1);
  });

  // @conforms requests.16
  it.each(['requestsPerHour', 'requestsPerDay'] as const)(
    'reports when %s leaves nothing for work, however little is used',
    (name) => {
      const field = name === 'requestsPerHour' ? 'requests_per_hour' : 'requests_per_day';
      const only = (limit: number): RequestBudget => ({ requestsPerHour: null, requestsPerDay: null, [name]: limit });
      const words = ({ text }: { readonly text: string }): string => text.replaceAll(/\d+/g, '#');
      budget = only(1);
      const tooSmall = limiter.pressure(budget);
      expect(tooSmall).toMatchObject({ step: 'essential_only', text: telling(field, 0, 1) });
      expect(() => depart('poll')).toThrow(
        expect.objectContaining({
          code: 'request_limited',
          details: expect.objectContaining({ step: 'essential_only' }),
          message: telling(tooSmall.text),
        }),
      );
      depart('running');
      expect(limiter.pressure(budget)).toMatchObject({ step: 'closed', text: telling(field, 1) });
      expect(words(limiter.pressure(budget))).toBe(words(tooSmall));
      expect(limiter.windows(budget)).toMatchObject([{ name: field, used: 1 }]);
      budget = only(2);
      depart('running');
      expect(limiter.pressure(budget)).toMatchObject({ step: 'closed', text: telling(field, 2) });
      expect(words(limiter.pressure(budget))).not.toBe(words(tooSmall));
    },
  );

  it('may change while requests are sent', () => {
    departMany('running', 100);
    budget = perHour(1_000);
    expect(tryDepart('sweep')).not.toBeNull();
    budget = perHour(50);
    expect(tryDepart('running')).toBeNull();
    budget = { requestsPerHour: null, requestsPerDay: null };
    expect(tryDepart('sweep')).not.toBeNull();
  });
});

describe('a budget of a day', () => {
  beforeEach(() => {
    budget = perDay(100);
  });

  it('ends at midnight UTC, to the millisecond', async () => {
    departMany('running', 100);
    const midnight = Date.UTC(2026, 0, 2);
    expect(refusedUntil('running')).toBe(midnight);
    expect(limiter.windows(budget)).toMatchObject([{ name: 'requests_per_day', used: 100, resetAt: midnight }]);
    await clock.advance(midnight - clock.now() - 1);
    expect(tryDepart('running')).toBeNull();
    await clock.advance(1);
    expect(departMany('running', 200)).toBe(100);
  });

  it('is not granted twice when the clock moves back and forth over midnight', () => {
    departMany('running', 100);
    clock.jumpWall(dayMs);
    expect(departMany('running', 200)).toBe(100);
    clock.jumpWall(-dayMs);
    expect(tryDepart('running')).toBeNull();
    clock.jumpWall(dayMs);
    expect(tryDepart('running')).toBeNull();
  });

  it('applies together with that of an hour, and the stricter one decides', async () => {
    budget = { requestsPerHour: 10, requestsPerDay: 15 };
    expect(departMany('running', 50)).toBe(10);
    await clock.advance(61 * minuteMs);
    expect(departMany('running', 50)).toBe(5);
    expect(limiter.pressure(budget)).toMatchObject({ step: 'closed', until: Date.UTC(2026, 0, 2) });
  });
});

describe('the counts in the store', () => {
  it('apply after a restart', async () => {
    budget = perHour(10_000);
    const store = sharedStore();
    for (let each = 0; each < 60; each += 1) store.write(depart('running'), 'running');
    for (let each = 0; each < 40; each += 1) store.write(depart('poll'), 'poll');
    for (const [limits, used] of [[perHour(100), 100] as const, [perDay(101), 100] as const]) {
      const next = new Limiter(provider, clock);
      await next.seed('store', store.read);
      expect(next.windows(limits)).toMatchObject([{ used }]);
    }
  });

  it('expire at the same time as without a restart', async () => {
    const store = sharedStore();
    for (let each = 0; each < 100; each += 1) store.write(depart('running'), 'running');
    const until = refusedUntil('running');
    await clock.advance(20 * minuteMs);
    limiter = new Limiter(provider, clock);
    await limiter.seed('store', store.read);
    expect(refusedUntil('running')).toBe(until);
    await clock.advance(until - clock.now());
    expect(tryDepart('running')).not.toBeNull();
  });

  it('distinguish essential requests from the others', async () => {
    const beginsAt = startAt - 30_000;
    const counted = [
      { beginsAt, cause: 'turn', count: 4 },
      { beginsAt, cause: 'poll', count: 80 },
      { beginsAt, cause: 'a_cause_of_tomorrow', count: 10 },
    ];
    await limiter.seed('store', async () => ({ minutes: counted, days: [] }));
    expect(limiter.pressure(budget)).toMatchObject({
      step: 'essential_only',
      text: telling('requests_per_hour', 94, 100),
    });
  });

  // @conforms octo-6.5
  it('can be read again and again without counting anything twice', async () => {
    const store = sharedStore();
    const others = [new Limiter(provider, clock), new Limiter(provider, clock)];
    budget = perHour(10_000);
    for (let round = 1; round <= 5; round += 1) {
      for (const each of [limiter, ...others]) store.write(depart('poll', each), 'poll');
      for (let times = 0; times < 3; times += 1) await limiter.seed('store', store.read);
      expect(limiter.windows(budget)).toMatchObject([{ used: 3 * round }]);
      await clock.advance(minuteMs);
    }
  });

  it('do not hide own requests that are not written yet, or never will be', async () => {
    const store = sharedStore();
    const other = new Limiter(provider, clock);
    for (let each = 0; each < 5; each += 1) store.write(depart('poll', other), 'poll');
    for (let each = 0; each < 3; each += 1) depart('poll');
    await limiter.seed('store', store.read);
    expect(limiter.windows(budget)).toMatchObject([{ used: 8 }]);
  });

  it('are never lower than the requests sent meanwhile', async () => {
    const store = sharedStore();
    store.write(depart('poll'), 'poll');
    await limiter.seed('store', async () => {
      const read = await store.read();
      store.write(depart('poll'), 'poll');
      return read;
    });
    expect(limiter.windows(budget)).toMatchObject([{ used: 2 }]);
    await limiter.seed('store', store.read);
    expect(limiter.windows(budget)).toMatchObject([{ used: 2 }]);
  });

  it('fall back to own requests when the store lost everything', async () => {
    const store = sharedStore();
    for (let each = 0; each < 7; each += 1) store.write(depart('poll'), 'poll');
    await limiter.seed('store', async () => ({ minutes: [], days: [] }));
    expect(limiter.windows(budget)).toMatchObject([{ used: 7 }]);
  });

  it('stay unchanged when the store cannot be read', async () => {
    const store = sharedStore();
    const other = new Limiter(provider, clock);
    for (let each = 0; each < 5; each += 1) store.write(depart('poll', other), 'poll');
    await limiter.seed('store', store.read);
    await expect(limiter.seed('store', () => Promise.reject(new Error('busy')))).rejects.toThrow('busy');
    expect(limiter.windows(budget)).toMatchObject([{ used: 5 }]);
  });

  it('ignore garbage and entries from a clock that was ahead', async () => {
    const ahead = startAt + 300 * dayMs;
    const counted = [
      { beginsAt: Number.NaN, cause: 'poll', count: 5 },
      { beginsAt: startAt, cause: 'poll', count: Number.NaN },
      { beginsAt: startAt, cause: 'poll', count: -50 },
      { beginsAt: startAt, cause: '__proto__', count: 1 },
      { beginsAt: ahead, cause: 'poll', count: 99 },
    ];
    await limiter.seed('store', async () => ({ minutes: counted, days: counted }));
    expect(limiter.windows({ requestsPerHour: 1_000, requestsPerDay: 1_000 })).toMatchObject([
      { used: 100 },
      { used: 1 },
    ]);
    await clock.advance(61 * minuteMs);
    expect(limiter.windows(budget)).toMatchObject([{ used: 0 }]);
  });

  it('are exact once everything is written, with any mix of daemons and writes', async () => {
    const moves = fc.record({
      who: fc.integer({ min: 0, max: 2 }),
      cause: fc.constantFrom<RequestCause>('running', 'poll'),
      isWritten: fc.boolean(),
      isSeeded: fc.boolean(),
      waitMs: fc.integer({ min: 0, max: minuteMs }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(moves, { maxLength: 40 }), async (script) => {
        clock = new SimulatedClock({ startAt });
        budget = perHour(10_000);
        const store = sharedStore();
        const daemons = [0, 1, 2].map(() => new Limiter(provider, clock));
        const unwritten: (() => void)[] = [];
        for (const { who, cause, isWritten, isSeeded, waitMs } of script) {
          const daemon = daemons[who] as Limiter;
          const departure = depart(cause, daemon);
          unwritten.push(() => store.write(departure, cause));
          if (isWritten) writeAll(unwritten);
          if (isSeeded) await daemon.seed('store', store.read);
          await clock.advance(waitMs);
        }
        writeAll(unwritten);
        for (const daemon of daemons) {
          await daemon.seed('store', store.read);
          expect(daemon.windows(budget)).toMatchObject([{ used: script.length }]);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('the counts in several stores', () => {
  /** What a limiter of the next life finds. */
  async function usedAfterRestart(stores: ReadonlyMap<string, ReturnType<typeof sharedStore>>): Promise<unknown> {
    const next = new Limiter(provider, clock);
    for (const [source, { read }] of stores) await next.seed(source, read);
    return next.windows({ requestsPerHour: 10_000, requestsPerDay: 10_000 }).map(({ used }) => used);
  }

  it('add up, in whatever order and however often they are read', async () => {
    const [here, there] = [sharedStore(), sharedStore()];
    for (let each = 0; each < 60; each += 1) here.write(depart('running', limiter, 'here'), 'running');
    for (let each = 0; each < 20; each += 1) there.write(depart('poll', limiter, 'there'), 'poll');
    for (const order of [
      ['here', 'there'],
      ['there', 'here'],
      ['here', 'there', 'there', 'here', 'here'],
    ]) {
      const next = new Limiter(provider, clock);
      for (const source of order) {
        await next.seed(source, source === 'here' ? here.read : there.read);
      }
      expect(next.windows(budget)).toMatchObject([{ used: 80 }]);
    }
  });

  it('do not count a request as foreign that this process wrote to another store', async () => {
    const [here, there] = [sharedStore(), sharedStore()];
    for (let each = 0; each < 10; each += 1) here.write(depart('poll', limiter, 'here'), 'poll');
    const other = new Limiter(provider, clock);
    for (let each = 0; each < 7; each += 1) there.write(depart('poll', other, 'there'), 'poll');
    await limiter.seed('there', there.read);
    await limiter.seed('here', here.read);
    await limiter.seed('there', there.read);
    expect(limiter.windows(budget)).toMatchObject([{ used: 17 }]);
  });

  it('keep the last values of a store that cannot be read, and fall with a store that reports less', async () => {
    const counted = (count: number) => ({ minutes: [{ beginsAt: clock.now(), cause: 'poll', count }], days: [] });
    await limiter.seed('here', async () => counted(30));
    await limiter.seed('there', async () => counted(5));
    await expect(limiter.seed('here', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    expect(limiter.windows(budget)).toMatchObject([{ used: 35 }]);
    await limiter.seed('there', async () => counted(1));
    expect(limiter.windows(budget)).toMatchObject([{ used: 31 }]);
  });

  it('are never too low, and exact once everything is written, with any mix of projects, stores, restarts and writes', async () => {
    const moves = fc.record({
      source: fc.constantFrom('a', 'b', 'c'),
      cause: fc.constantFrom<RequestCause>('running', 'poll'),
      isWritten: fc.boolean(),
      seeded: fc.subarray(['a', 'b', 'c']),
      isRestarted: fc.boolean(),
      waitMs: fc.integer({ min: 0, max: minuteMs }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(moves, { maxLength: 40 }), async (script) => {
        clock = new SimulatedClock({ startAt });
        budget = perHour(10_000);
        const stores = new Map(['a', 'b', 'c'].map((source) => [source, sharedStore()]));
        const storeOf = (source: string) => stores.get(source) as ReturnType<typeof sharedStore>;
        let daemon = new Limiter(provider, clock);
        const unwritten: (() => void)[] = [];
        for (const [index, { source, cause, isWritten, seeded, isRestarted, waitMs }] of script.entries()) {
          if (isRestarted) {
            writeAll(unwritten);
            daemon = new Limiter(provider, clock);
            for (const [each, { read }] of stores) await daemon.seed(each, read);
          }
          const departure = depart(cause, daemon, source);
          unwritten.push(() => storeOf(source).write(departure, cause));
          if (isWritten) writeAll(unwritten);
          for (const each of seeded) await daemon.seed(each, storeOf(each).read);
          expect(daemon.windows(budget)).toMatchObject([{ used: index + 1 }]);
          await clock.advance(waitMs);
        }
        writeAll(unwritten);
        expect(await usedAfterRestart(stores)).toEqual([script.length, script.length]);
      }),
      { numRuns: runs(100) },
    );
  });
});

function writeAll(unwritten: (() => void)[]): void {
  for (const write of unwritten.splice(0)) write();
}
