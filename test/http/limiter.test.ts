import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RequestCause } from '../../src/core/requests/request-caller.ts';
import { Secret } from '../../src/core/text/secret.ts';
import type { AnnouncedLimit, HttpAnswer, HttpProvider } from '../../src/http/http.ts';
import { type Departure, Limiter } from '../../src/http/limiter.ts';
import { createLimiterRegistry } from '../../src/http/limiter-registry.ts';
import type { RequestBudget } from '../../src/http/spent-requests.ts';
import { type MemoryLogger, memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { runs } from '../property-runs.ts';
import { telling } from '../telling.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const noBudget: RequestBudget = { requestsPerHour: null, requestsPerDay: null };

/** Announces what the header `limits` has as JSON, and refuses by the header `refused`. */
const provider: HttpProvider = {
  name: 'service',
  announced: (headers) => (headers.limits === undefined ? [] : (JSON.parse(headers.limits) as AnnouncedLimit[])),
  refusal: ({ headers }) => (headers.refused === undefined ? null : { until: JSON.parse(headers.refused) }),
};

let clock: SimulatedClock;
let logger: MemoryLogger;
let limiter: Limiter;

beforeEach(() => {
  clock = new SimulatedClock();
  logger = memoryLogger();
  limiter = new Limiter(provider, clock);
});

function depart(cause: RequestCause = 'poll', budget: RequestBudget = noBudget): Departure {
  return limiter.admit({ caller: { job: 'test', cause }, route: '/things', budget, source: '' }, logger);
}

function answer(status: number, headers: HttpAnswer['headers'] = {}): HttpAnswer {
  return { status, headers, body: '', isUnchanged: false };
}

function told(limits: readonly Partial<AnnouncedLimit>[], status = 200): HttpAnswer {
  const whole = limits.map((limit) => ({
    name: 'requests',
    limit: 100,
    remaining: 100,
    resetAt: clock.now() + hourMs,
    ...limit,
  }));
  return answer(status, { limits: JSON.stringify(whole) });
}

function pressure(): ReturnType<Limiter['pressure']> {
  return limiter.pressure(noBudget);
}

function tryDepart(): Departure | null {
  try {
    return depart('running');
  } catch {
    return null;
  }
}

/** When the door opens by what a refused request is told; null when it may leave. Leaves nothing under way. */
function closedUntil(cause: RequestCause = 'running'): number | null {
  try {
    depart(cause).lost();
    return null;
  } catch (error) {
    return (error as { details: { until: number } }).details.until;
  }
}

describe('a refusal', () => {
  // @conforms requests.2
  it('blocks everything until its exact end, and nothing after it', async () => {
    depart().heard(answer(429, { 'retry-after': '90' }));
    const until = clock.now() + 90 * secondMs;
    expect(pressure()).toMatchObject({ step: 'closed', until });
    await clock.advance(90 * secondMs - 1);
    expect(closedUntil()).toBe(until);
    await clock.advance(1);
    expect(closedUntil()).toBeNull();
    expect(pressure().step).toBe('free');
  });

  it('may name a date', () => {
    const until = clock.now() + 5 * minuteMs;
    depart().heard(answer(429, { 'retry-after': new Date(until).toUTCString() }));
    expect(closedUntil()).toBe(until);
  });

  it('is a 503 only when it names a time', () => {
    depart().heard(answer(503));
    depart().heard(answer(503, { 'retry-after': 'later' }));
    depart().heard(answer(500, { 'retry-after': '60' }));
    depart().heard(answer(200, { 'retry-after': '60' }));
    expect(closedUntil()).toBeNull();
    depart().heard(answer(503, { 'retry-after': '60' }));
    expect(closedUntil()).toBe(clock.now() + minuteMs);
  });

  it('is whatever the provider recognises as one', () => {
    const until = clock.now() + 7 * minuteMs;
    depart().heard(answer(400, { refused: JSON.stringify(until) }));
    expect(closedUntil()).toBe(until);
  });

  it('with two times lasts until the later one', () => {
    const until = clock.now() + 7 * minuteMs;
    depart().heard(answer(429, { refused: JSON.stringify(until), 'retry-after': '60' }));
    expect(closedUntil()).toBe(until);
  });

  it('applies to all callers, also to essential requests', () => {
    depart().heard(answer(429, { 'retry-after': '60' }));
    for (const cause of ['poll', 'running', 'sweep', 'person'] as const) expect(() => depart(cause)).toThrow('service');
  });

  it('has the code, the time and the route in its error', () => {
    depart().heard(answer(429, { 'retry-after': '60' }));
    expect(() => depart('retry')).toThrow(
      expect.objectContaining({
        code: 'request_limited',
        details: {
          provider: 'service',
          route: '/things',
          job: 'test',
          cause: 'retry',
          step: 'closed',
          until: clock.now() + minuteMs,
        },
      }),
    );
  });

  it.each(['', 'garbage', '-1', '0'])(
    'with Retry-After %j blocks for a growing time, from a minute to an hour',
    async (value) => {
      const waits: number[] = [];
      for (let turn = 0; turn < 9; turn += 1) {
        depart().heard(answer(429, { 'retry-after': value }));
        const until = closedUntil() ?? 0;
        waits.push((until - clock.now()) / minuteMs);
        await clock.advance(until - clock.now());
      }
      expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    },
  );

  it('without a time lasts until the reset of the limit that is used up', () => {
    depart().heard(told([{ remaining: 0, resetAt: clock.now() + 10 * minuteMs }], 429));
    expect(closedUntil()).toBe(clock.now() + 10 * minuteMs);
  });

  it('starts the growing wait again after a success, but not after a refusal with a time', async () => {
    depart().heard(answer(429));
    await clock.advance(minuteMs);
    depart().heard(answer(429, { 'retry-after': '30' }));
    await clock.advance(30 * secondMs);
    depart().heard(answer(429));
    expect(closedUntil()).toBe(clock.now() + 2 * minuteMs);
    await clock.advance(2 * minuteMs);
    depart().heard(answer(502));
    depart().heard(answer(404));
    depart().heard(answer(429));
    expect(closedUntil()).toBe(clock.now() + minuteMs);
  });

  it('counts once for requests that were in flight together', async () => {
    const together = Array.from({ length: 50 }, () => depart());
    for (const departure of together.slice(0, 49)) departure.heard(answer(429));
    expect(closedUntil()).toBe(clock.now() + minuteMs);
    await clock.advance(minuteMs);
    depart().heard(answer(429));
    expect(closedUntil()).toBe(clock.now() + 2 * minuteMs);
    together[49]?.heard(answer(429));
    expect(closedUntil()).toBe(clock.now() + 2 * minuteMs);
  });

  it('is not lifted by the success of an earlier request', async () => {
    const [slow, quick] = [depart(), depart()];
    quick.heard(answer(429));
    slow.heard(answer(200));
    expect(closedUntil()).toBe(clock.now() + minuteMs);
    await clock.advance(minuteMs);
    depart().heard(answer(429));
    expect(closedUntil()).toBe(clock.now() + 2 * minuteMs);
  });

  it('is not shortened by another one', () => {
    const [first, second] = [depart(), depart()];
    first.heard(answer(429, { 'retry-after': '600' }));
    second.heard(answer(429, { 'retry-after': '10' }));
    expect(closedUntil()).toBe(clock.now() + 10 * minuteMs);
  });

  it('for years is capped at a day, and logged once', async () => {
    depart().heard(answer(429, { 'retry-after': '999999999999999' }));
    expect(closedUntil()).toBe(clock.now() + 24 * hourMs);
    await clock.advance(24 * hourMs);
    depart().heard(answer(429, { refused: '8.64e15' }));
    expect(closedUntil()).toBe(clock.now() + 24 * hourMs);
    expect(logger.events().filter((event) => event === 'retry_after_capped')).toHaveLength(1);
  });

  // @conforms requests.4
  it('does not last longer because the clock is set back', async () => {
    depart().heard(answer(429, { 'retry-after': '600' }));
    clock.jumpWall(-365 * 24 * hourMs);
    expect(closedUntil()).toBe(clock.now() + 10 * minuteMs);
    await clock.advance(10 * minuteMs - 1);
    expect(closedUntil()).not.toBeNull();
    await clock.advance(1);
    expect(closedUntil()).toBeNull();
  });

  it('ends when the wall clock has passed it, because the machine slept', () => {
    depart().heard(answer(429, { 'retry-after': '600' }));
    clock.jumpWall(10 * minuteMs);
    expect(closedUntil()).toBeNull();
  });
});

describe('a refusal from before a restart', () => {
  it('lasts until its time, for all callers', async () => {
    const until = clock.now() + 10 * minuteMs;
    limiter.stayClosed(until);
    expect(limiter.closedUntil()).toBe(until);
    expect(() => depart('running')).toThrow(
      expect.objectContaining({
        code: 'request_limited',
        details: expect.objectContaining({ provider: 'service', step: 'closed', until }),
      }),
    );
    await clock.advance(10 * minuteMs - 1);
    expect(closedUntil()).toBe(clock.now() + 1);
    await clock.advance(1);
    expect(limiter.closedUntil()).toBeNull();
    expect(closedUntil()).toBeNull();
  });

  it.each([0, -1, Number.NaN, Number.NEGATIVE_INFINITY, Date.UTC(2025, 11, 31)])(
    'has no effect when it lasted until %d',
    (until) => {
      limiter.stayClosed(until);
      expect(limiter.closedUntil()).toBeNull();
    },
  );

  it.each([Date.UTC(2200, 0, 1), Number.POSITIVE_INFINITY, Number.MAX_VALUE])('lasts at most a day (%d)', (until) => {
    limiter.stayClosed(until);
    expect(limiter.closedUntil()).toBe(clock.now() + 24 * hourMs);
  });

  it('lasts no longer than its remaining wait, although the clock is set back', async () => {
    limiter.stayClosed(clock.now() + 10 * minuteMs);
    clock.jumpWall(-7 * 24 * hourMs);
    expect(closedUntil()).toBe(clock.now() + 10 * minuteMs);
    await clock.advance(10 * minuteMs);
    expect(closedUntil()).toBeNull();
  });

  it('lasts until the later of its own time and a new refusal', () => {
    depart().heard(answer(429, { 'retry-after': '600' }));
    limiter.stayClosed(clock.now() + minuteMs);
    expect(closedUntil()).toBe(clock.now() + 10 * minuteMs);
    limiter.stayClosed(clock.now() + hourMs);
    expect(closedUntil()).toBe(clock.now() + hourMs);
  });
});

describe('a request that waits for its connection', () => {
  it('is not sent and not counted when the service refuses requests meanwhile', () => {
    const budget = { requestsPerHour: 100, requestsPerDay: null };
    const [waiting, quick] = [depart('poll', budget), depart('poll', budget)];
    quick.confirm();
    quick.heard(answer(429, { 'retry-after': '60' }));
    expect(() => waiting.confirm()).toThrow(expect.objectContaining({ code: 'request_limited' }));
    expect(() => waiting.confirm()).toThrow();
    expect(waiting.heldBack()).toMatchObject({ details: { until: clock.now() + minuteMs } });
    expect(limiter.windows(budget)).toMatchObject([{ used: 1 }]);
  });

  it('is not sent when an announced limit is used up', () => {
    const [waiting, quick] = [depart(), depart()];
    quick.heard(told([{ remaining: 0 }]));
    expect(() => waiting.confirm()).toThrow(expect.objectContaining({ code: 'request_limited' }));
  });

  it('is sent as the last one that an announced limit allows', () => {
    depart().heard(told([{ remaining: 6 }]));
    depart('running').confirm();
  });
});

describe('an announced limit', () => {
  it('causes the same steps of pressure as a budget', () => {
    const steps = [31, 30, 15, 5, 0].map((remaining) => {
      depart('running').heard(told([{ remaining }]));
      return pressure().step;
    });
    expect(steps).toEqual(['free', 'warned', 'stretched', 'essential_only', 'closed']);
  });

  // @conforms requests.3
  it('that is used up blocks exactly until its reset', async () => {
    depart().heard(told([{ remaining: 0, resetAt: clock.now() + 90 * secondMs }]));
    await clock.advance(90 * secondMs - 1);
    expect(closedUntil()).toBe(clock.now() + 1);
    await clock.advance(1);
    expect(closedUntil()).toBeNull();
    expect(limiter.windows(noBudget)).toEqual([]);
  });

  it('is not exceeded by many requests at once', () => {
    depart().heard(told([{ remaining: 8 }]));
    const left = Array.from({ length: 50 }, () => {
      try {
        return depart('running');
      } catch {
        return null;
      }
    }).filter((departure) => departure !== null);
    expect(left).toHaveLength(8);
    for (const departure of left) departure.lost();
    expect(closedUntil()).toBeNull();
  });

  it('comes from the answer to the request that was sent last, whatever its reset', () => {
    depart().heard(told([{ remaining: 4, resetAt: clock.now() + 2 * hourMs }]));
    depart('running').heard(told([{ remaining: 99, resetAt: clock.now() + hourMs }]));
    expect(pressure().step).toBe('free');
    depart().heard(told([{ remaining: 4, resetAt: clock.now() + hourMs / 2 }]));
    expect(pressure()).toMatchObject({ step: 'essential_only', until: clock.now() + hourMs / 2 });
  });

  it.each([0, 500, -500])('does not rise by a late answer of the same window (%i ms apart)', (apartMs) => {
    const resetAt = clock.now() + hourMs;
    const [slow, quick] = [depart(), depart()];
    quick.heard(told([{ remaining: 0, resetAt }]));
    slow.heard(told([{ remaining: 50, resetAt: resetAt + apartMs }]));
    expect(pressure()).toMatchObject({ step: 'closed', until: resetAt });
  });

  it('falls by a late answer of the same window', () => {
    const resetAt = clock.now() + hourMs;
    const [slow, quick] = [depart(), depart()];
    quick.heard(told([{ remaining: 50, resetAt }]));
    slow.heard(told([{ remaining: 0, resetAt }]));
    expect(pressure()).toMatchObject({ step: 'closed', until: resetAt });
  });

  it('of the previous window does not block the new one', () => {
    const [slow, quick] = [depart(), depart()];
    quick.heard(told([{ remaining: 99, resetAt: clock.now() + hourMs }]));
    slow.heard(told([{ remaining: 0, resetAt: clock.now() + 2 * secondMs }]));
    expect(pressure().step).toBe('free');
  });

  it('from a clock that is hours off is read relative to its own Date', () => {
    for (const hours of [-5, 5]) {
      limiter = new Limiter(provider, clock);
      const theirs = clock.now() + hours * hourMs;
      const limits = [{ name: 'requests', limit: 10, remaining: 0, resetAt: theirs + 10 * minuteMs }];
      depart().heard(answer(200, { date: new Date(theirs).toUTCString(), limits: JSON.stringify(limits) }));
      expect(closedUntil()).toBe(clock.now() + 10 * minuteMs);
    }
  });

  it('that resets in years is capped at a day, and logged once', () => {
    depart().heard(told([{ remaining: 0, resetAt: clock.now() + 365 * 24 * hourMs }]));
    expect(closedUntil()).toBe(clock.now() + 24 * hourMs);
    expect(logger.events().filter((event) => event === 'retry_after_capped')).toHaveLength(1);
  });

  // @conforms requests.4
  it('does not last longer because the clock is set back', async () => {
    depart().heard(told([{ remaining: 0, resetAt: clock.now() + 10 * minuteMs }]));
    clock.jumpWall(-365 * 24 * hourMs);
    await clock.advance(10 * minuteMs);
    expect(closedUntil()).toBeNull();
  });

  it('that makes no sense blocks nothing', () => {
    // As JSON all of these are null or a text.
    const odd: readonly unknown[] = [null, 'x', Number.NaN, Number.POSITIVE_INFINITY];
    for (const value of odd) {
      depart().heard(told([{ limit: value as number, remaining: 0 }]));
      depart().heard(told([{ remaining: value as number }]));
      depart().heard(told([{ remaining: 0, resetAt: value as number }]));
    }
    depart().heard(told([{ limit: -1, remaining: 0 }]));
    depart().heard(told([{ limit: 0, remaining: 0 }]));
    depart().heard(told([{ limit: 10, remaining: 5_000 }]));
    expect(closedUntil()).toBeNull();
    expect(pressure().step).toBe('free');
  });

  it('below zero counts as zero', () => {
    depart().heard(told([{ remaining: -3 }]));
    expect(pressure()).toMatchObject({ step: 'closed' });
  });

  it('that the provider cannot read is logged once and has no effect', () => {
    depart().heard(answer(200, { limits: 'echo: canary' }));
    depart().heard(answer(429, { limits: '{', refused: '{', 'retry-after': '5' }));
    expect(closedUntil()).toBe(clock.now() + 5 * secondMs);
    expect(logger.events()).toHaveLength(1);
    expect(JSON.stringify(logger.lines)).not.toContain('canary');
  });

  it('with several limits uses the strictest one, and shows all', () => {
    depart().heard(
      told([
        { name: 'requests', remaining: 90 },
        { name: 'complexity', limit: 10_000, remaining: 400 },
      ]),
    );
    expect(pressure()).toMatchObject({ step: 'essential_only', text: telling('complexity', '9,600', '10,000') });
    expect(limiter.windows(noBudget)).toEqual([
      { name: 'requests', source: 'announced', limit: 100, used: 10, resetAt: clock.now() + hourMs },
      { name: 'complexity', source: 'announced', limit: 10_000, used: 9_600, resetAt: clock.now() + hourMs },
    ]);
  });
});

describe('the spacing under an announced limit', () => {
  const perPoll = 2_500;
  const points = (remaining: number): HttpAnswer => told([{ name: 'complexity', limit: 3_000_000, remaining }]);

  /** Answers to one request after the other, each taking so much, down to what is left in the end. */
  function spend(end: number, ...taken: readonly number[]): void {
    let remaining = end + taken.reduce((sum, each) => sum + each, 0);
    depart('running').heard(points(remaining));
    for (const each of taken) {
      remaining -= each;
      depart('running').heard(points(remaining));
    }
  }

  it('of points follows the cost of the last requests', () => {
    spend(400_000, perPoll, perPoll);
    // 250,000 points are left before only essential goes: a hundred polls.
    expect(pressure()).toMatchObject({ step: 'stretched', spacingMs: hourMs / 100, until: clock.now() + hourMs });
    limiter = new Limiter(provider, clock);
    spend(100_000, perPoll);
    expect(pressure()).toMatchObject({ step: 'essential_only', spacingMs: hourMs / 40 });
  });

  it('follows the most expensive of the last few requests, and forgets it in time', () => {
    spend(400_000, 100, perPoll, 300);
    expect(pressure().spacingMs).toBe(hourMs / 100);
    spend(400_000, ...Array.from({ length: 8 }, () => 250));
    expect(pressure().spacingMs).toBe(hourMs / 1_000);
  });

  it('of requests stays the same although others use the credential now and then', () => {
    const left = [26, 25, 24, 17, 16, 15];
    for (const remaining of left) depart().heard(told([{ remaining }]));
    expect(pressure()).toMatchObject({ step: 'stretched', spacingMs: hourMs / 10 });
  });

  it('ignores the cost of requests that were in flight together, and of the first answer', () => {
    const together = [depart(), depart(), depart()];
    for (const [index, departure] of together.entries()) departure.heard(points(500_000 - index * perPoll));
    depart().heard(points(3_000_000));
    const [waiting, quick] = [depart(), depart()];
    quick.heard(points(400_000));
    expect(pressure().spacingMs).toBe(Math.ceil(hourMs / 249_999));
    waiting.lost();
  });

  it('stays the same after the limit was reset', () => {
    spend(390_000, perPoll);
    depart().heard(points(400_000));
    expect(pressure().spacingMs).toBe(hourMs / 100);
  });

  it('carries over to the next window', async () => {
    spend(2_000_000, perPoll);
    await clock.advance(2 * hourMs);
    depart().heard(points(400_000));
    expect(pressure().spacingMs).toBe(hourMs / 100);
  });

  it('is never longer than the window', () => {
    spend(400_000, 2_000_000);
    expect(pressure()).toMatchObject({ step: 'stretched', spacingMs: hourMs });
  });

  it('is finite and never longer than the window, whatever a service announces', () => {
    const numbers = fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.maxSafeNat(), fc.double({ noNaN: true }));
    const limits = fc.record({
      limit: numbers,
      remaining: numbers,
      resetMs: fc.integer({ min: -10, max: 30 * hourMs }),
    });
    fc.assert(
      fc.property(fc.array(limits, { maxLength: 20 }), (script) => {
        limiter = new Limiter(provider, clock);
        for (const { limit, remaining, resetMs } of script) {
          const departure = tryDepart();
          departure?.heard(told([{ limit, remaining, resetAt: clock.now() + resetMs }]));
          const { spacingMs, until } = pressure();
          expect(spacingMs).toBeGreaterThanOrEqual(0);
          expect(spacingMs).toBeLessThanOrEqual((until ?? clock.now()) - clock.now());
        }
      }),
    );
  });
});

describe('any sequence of answers', () => {
  it('blocks requests for at most a day after the last answer', async () => {
    const values = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    );
    const near = fc.integer({ min: -hourMs, max: 48 * hourMs }).map((ms) => Date.UTC(2026, 0, 1) + ms);
    const numbers = fc.oneof(fc.integer({ min: -5, max: 100 }), fc.integer(), fc.double());
    const limits = fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b'),
        limit: numbers,
        remaining: numbers,
        resetAt: fc.oneof(fc.double(), near),
      }),
    );
    const answers = fc.record({
      status: fc.constantFrom(200, 304, 400, 429, 500, 503),
      retryAfter: fc.option(values, { nil: undefined }),
      date: fc.option(values, { nil: undefined }),
      limits: fc.option(
        fc.oneof(
          fc.json(),
          limits.map((each) => JSON.stringify(each)),
        ),
        { nil: undefined },
      ),
      jumpMs: fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(answers, { maxLength: 12 }), async (script) => {
        clock = new SimulatedClock();
        limiter = new Limiter(provider, clock);
        const departures = script.map(() => depart());
        for (const [index, { status, retryAfter, date, limits, jumpMs }] of script.entries()) {
          departures[index]?.heard(
            answer(status, {
              ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
              ...(date === undefined ? {} : { date }),
              ...(limits === undefined ? {} : { limits }),
            }),
          );
          clock.jumpWall(jumpMs);
        }
        await clock.advance(24 * hourMs);
        expect(closedUntil()).toBeNull();
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('the registry', () => {
  // @conforms F107
  it('has one limiter for each credential at a provider, and stores no credential', () => {
    const registry = createLimiterRegistry(clock);
    const key = (): Secret => new Secret('canary-key');
    const shared = registry.limiterOf(provider, key());
    expect(registry.limiterOf({ ...provider }, key())).toBe(shared);
    expect(registry.limiterOf({ ...provider, name: 'other' }, key())).not.toBe(shared);
    expect(registry.limiterOf(provider, new Secret('canary-key-2'))).not.toBe(shared);
    expect(registry.limiterOf(provider, null)).not.toBe(shared);
    expect(registry.limiterOf(provider, null)).toBe(registry.limiterOf(provider, null));
  });
});
