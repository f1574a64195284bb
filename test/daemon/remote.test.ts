import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { RequestCause } from '../../src/core/requests/request-caller.ts';
import { Secret } from '../../src/core/text/secret.ts';
import { Remote, type RemoteParts } from '../../src/daemon/remote.ts';
import type { HttpClient, HttpProvider } from '../../src/http/http.ts';
import { createLimiterRegistry, type LimiterRegistry } from '../../src/http/limiter-registry.ts';
import type { Transport } from '../../src/http/transport.ts';
import type { Store } from '../../src/store/store.ts';
import { type MemoryLogger, memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { runs } from '../property-runs.ts';
import { MemoryStore } from '../simulation/memory-store.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const service: HttpProvider = { name: 'service', announced: () => [], refusal: () => null };
const other: HttpProvider = { ...service, name: 'other' };

let clock: SimulatedClock;
let logger: MemoryLogger;
let stores: readonly [Store, Store];
/** When the service answers with something else than 429. */
let refusesUntil: number;
let sent: number;

const transport: Transport = {
  async send({ beforeLeaving }) {
    beforeLeaving?.();
    sent += 1;
    const waitMs = refusesUntil - clock.now();
    if (waitMs <= 0) return { status: 200, headers: {}, body: '', bytes: 0 };
    return { status: 429, headers: { 'retry-after': String(waitMs / secondMs) }, body: '', bytes: 0 };
  },
  async [Symbol.asyncDispose]() {},
};

beforeEach(async () => {
  clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 3) });
  logger = memoryLogger();
  stores = [(await MemoryStore.open(clock, false)).store, (await MemoryStore.open(clock, false)).store];
  refusesUntil = 0;
  sent = 0;
});

interface Life {
  readonly remote: Remote;
  readonly client: HttpClient;
}

/** What a daemon does at its start: a client, and then what the store knows. */
async function begin(parts: Partial<RemoteParts> = {}, key = 'canary-key', provider = service): Promise<Life> {
  const remote = new Remote({
    clock,
    logger,
    transport,
    project: 'p',
    storeKey: 'here',
    store: stores[0],
    limiters: createLimiterRegistry(clock),
    budget: () => ({ requestsPerHour: null, requestsPerDay: null }),
    surroundings: { env: {}, version: '0' },
    ...parts,
  });
  const client = remote.client(provider, new Secret(key), false);
  await remote.refresh();
  return { remote, client };
}

/** Asks so often; gives how often it left. */
async function ask({ client }: Life, times = 1, cause: RequestCause = 'poll'): Promise<number> {
  const before = sent;
  for (let each = 0; each < times; each += 1) {
    const request = { method: 'GET', url: 'https://service.example/', route: '/', headers: {} } as const;
    await client.send({ ...request, caller: { job: 'test', cause } }).catch((error: unknown) => {
      if (!(error instanceof BatonError && error.code === 'request_limited')) throw error;
    });
  }
  await clock.settle();
  return sent - before;
}

function rows(store = stores[0]): Promise<Readonly<Record<string, number>>> {
  return store.counters.read({ project: 'p', issueId: '@requests' });
}

describe('a budget shared by projects with their own stores', () => {
  const budget = (): { requestsPerHour: null; requestsPerDay: number } => ({
    requestsPerHour: null,
    requestsPerDay: 100,
  });

  function beginBoth(limiters: LimiterRegistry): Promise<[Life, Life]> {
    return Promise.all([
      begin({ budget, limiters, store: stores[0], storeKey: 'here' }),
      begin({ budget, limiters, store: stores[1], storeKey: 'there' }),
    ]);
  }

  // @conforms requests.14
  it('stays spent after a restart, whichever project spent it', async () => {
    const lives = await beginBoth(createLimiterRegistry(clock));
    expect(await ask(lives[0], 50)).toBe(50);
    expect(await ask(lives[1], 200)).toBe(40);
    // Counts are written together, half a second after the first.
    await clock.advance(500);
    for (let each = 0; each < 4; each += 1) {
      const next = await beginBoth(createLimiterRegistry(clock));
      for (const life of next) {
        expect(life.client.windows()).toMatchObject([{ used: 90, limit: 100 }]);
        expect(await ask(life, 20)).toBe(0);
        await life.remote.refresh();
      }
    }
    expect(sent).toBe(90);
  });

  it('counts no request twice, however often both projects read their stores', async () => {
    const lives = await beginBoth(createLimiterRegistry(clock));
    for (let round = 1; round <= 5; round += 1) {
      for (const life of lives) await ask(life, 3);
      for (const life of [...lives, ...lives]) await life.remote.refresh();
      expect(lives[0].client.windows()).toMatchObject([{ used: 6 * round }]);
      await clock.advance(20 * minuteMs);
    }
  });

  it('is shared by two projects on one store, and by one that restarts in the process', async () => {
    const limiters = createLimiterRegistry(clock);
    const lives = [await begin({ budget, limiters }), await begin({ budget, limiters, project: 'q' })];
    for (const life of lives) await ask(life, 10);
    lives.push(await begin({ budget, limiters }));
    for (const life of lives) {
      await ask(life, 1);
      await life.remote.refresh();
    }
    for (const life of lives) expect(life.client.windows()).toMatchObject([{ used: 23 }]);
  });
});

describe('the counts of a daemon that is killed', () => {
  const budget = (): { requestsPerHour: null; requestsPerDay: number } => ({
    requestsPerHour: null,
    requestsPerDay: 100,
  });
  const countedByTheNext = async (): Promise<number | undefined> => (await begin({ budget })).client.windows()[0]?.used;

  it('have the first request after a pause at once, so that a daemon that crashes early is counted each time', async () => {
    for (let daemon = 1; daemon <= 5; daemon += 1) {
      await ask(await begin({ budget }));
      await clock.advance(1);
      expect(await countedByTheNext()).toBe(daemon);
    }
  });

  it('lack at most four requests, however quickly they are sent', async () => {
    const life = await begin({ budget });
    for (let asked = 1; asked <= 40; asked += 1) {
      await ask(life);
      expect(await countedByTheNext()).toBeGreaterThanOrEqual(asked - 4);
    }
  });
});

describe('a retry-after time', () => {
  // @conforms requests.15
  it('lasts across restarts until its exact millisecond', async () => {
    refusesUntil = clock.now() + hourMs;
    expect(await ask(await begin())).toBe(1);
    for (let each = 0; each < 50; each += 1) {
      const life = await begin();
      expect(await ask(life, 3, 'running')).toBe(0);
      expect(life.client.pressure()).toMatchObject({ step: 'closed', until: refusesUntil });
      await clock.advance(minuteMs);
    }
    await clock.advance(refusesUntil - clock.now() - 1);
    expect(await ask(await begin())).toBe(0);
    await clock.advance(1);
    expect(await ask(await begin())).toBe(1);
  });

  it('is known to the next daemon before its first request, as soon as the store has loaded it', async () => {
    refusesUntil = clock.now() + hourMs;
    await ask(await begin());
    const life = await begin({ store: { ...stores[0], requestCounts: failing('series') } }).catch(() => null);
    expect(life).toBeNull();
    const limiters = createLimiterRegistry(clock);
    const hasty = new Remote({
      clock,
      logger,
      transport,
      limiters,
      project: 'p',
      store: stores[0],
      budget: () => ({ requestsPerHour: null, requestsPerDay: null }),
      surroundings: { env: {}, version: '0' },
    });
    const client = hasty.client(service, new Secret('canary-key'), false);
    await clock.settle();
    expect(client.pressure()).toMatchObject({ step: 'closed', until: refusesUntil });
  });

  it('is stored by provider, credential and project, without the credential itself', async () => {
    refusesUntil = clock.now() + hourMs;
    await ask(await begin());
    expect(JSON.stringify(await rows())).not.toContain('canary');
    expect(Object.keys(await rows())).toEqual([expect.stringMatching(/^closed_until service [0-9a-f]{16}$/)]);
    expect(Object.values(await rows())).toEqual([refusesUntil]);
    refusesUntil = 0;
    expect(await ask(await begin({}, 'another-key'))).toBe(1);
    expect(await ask(await begin({}, 'canary-key', other))).toBe(1);
    expect(await ask(await begin({ project: 'q' }))).toBe(1);
    expect(await ask(await begin())).toBe(0);
  });

  it('is stored in every store whose project uses the credential', async () => {
    const limiters = createLimiterRegistry(clock);
    const here = await begin({ limiters });
    const there = await begin({ limiters, store: stores[1], storeKey: 'there' });
    refusesUntil = clock.now() + hourMs;
    await ask(here);
    await there.remote.refresh();
    expect(await ask(await begin({ store: stores[1], storeKey: 'there' }))).toBe(0);
  });

  it('is removed from the store after it expired', async () => {
    const life = await begin();
    refusesUntil = clock.now() + 10 * minuteMs;
    await ask(life);
    expect(Object.keys(await rows())).toHaveLength(1);
    await clock.advance(10 * minuteMs);
    await life.remote.refresh();
    expect(await rows()).toEqual({});
  });

  it('of an unused credential is removed when another one is stored', async () => {
    refusesUntil = clock.now() + 10 * minuteMs;
    await ask(await begin({}, 'old-key'));
    await clock.advance(10 * minuteMs);
    refusesUntil = clock.now() + hourMs;
    await ask(await begin({}, 'new-key'));
    expect(Object.values(await rows())).toEqual([refusesUntil]);
  });

  it('is written when it becomes longer, and once for each refusal', async () => {
    const writes: number[] = [];
    const { counters } = stores[0];
    const set: typeof counters.set = (key, name, value) => {
      writes.push(value);
      return counters.set(key, name, value);
    };
    const life = await begin({ store: { ...stores[0], counters: { ...counters, set } } });
    refusesUntil = clock.now() + 10 * secondMs;
    await ask(life);
    for (let each = 0; each < 5; each += 1) {
      await ask(life);
      await life.remote.refresh();
    }
    await clock.advance(10 * secondMs);
    refusesUntil = clock.now() + 20 * secondMs;
    await ask(life);
    expect(writes).toEqual([refusesUntil - 20 * secondMs, refusesUntil]);
  });

  it('is written before the shutdown, even an immediate one', async () => {
    refusesUntil = clock.now() + hourMs;
    const { counters } = stores[0];
    const set: typeof counters.set = async (...row) => {
      await sleep(clock, secondMs);
      await counters.set(...row);
    };
    const life = await begin({ store: { ...stores[0], counters: { ...counters, set } } });
    await ask(life);
    const ended = life.remote[Symbol.asyncDispose]().then(() => 'ended');
    await clock.settle();
    expect(await Promise.race([ended, 'not yet'])).toBe('not yet');
    await clock.advance(secondMs);
    expect(await ended).toBe('ended');
    expect(Object.values(await rows())).toEqual([refusesUntil]);
    expect(clock.pending).toBe(0);
  });

  it('does not delay the shutdown when the store hangs', async () => {
    refusesUntil = clock.now() + hourMs;
    const set = (): Promise<never> => new Promise(() => {});
    const life = await begin({ store: { ...stores[0], counters: { ...stores[0].counters, set } } });
    await ask(life);
    const ended = life.remote[Symbol.asyncDispose]();
    await clock.advance(2 * secondMs);
    await ended;
  });

  it('is not stored without a project', async () => {
    refusesUntil = clock.now() + hourMs;
    expect(await ask(await begin({ project: null }))).toBe(1);
    expect(await ask(await begin({ store: { requestCounts: stores[0].requestCounts } }))).toBe(1);
    expect(await rows()).toEqual({});
  });
});

describe('a retry-after time and the clock', () => {
  it('expires after the remaining wait when the clock is set back, also after later restarts', async () => {
    refusesUntil = clock.now() + hourMs;
    const life = await begin();
    await ask(life);
    await clock.advance(30 * minuteMs);
    clock.jumpWall(-3 * dayMs);
    await life.remote.refresh();
    await clock.advance(29 * minuteMs);
    const next = await begin();
    expect(next.client.pressure()).toMatchObject({ step: 'closed', until: clock.now() + minuteMs });
    await clock.advance(minuteMs);
    expect(next.client.pressure()).toMatchObject({ step: 'free' });
    await next.remote.refresh();
    expect(await rows()).toEqual({});
  });

  it('lasts at most a day when the clock is set back between two daemons', async () => {
    refusesUntil = clock.now() + hourMs;
    await ask(await begin());
    clock.jumpWall(-30 * dayMs);
    const life = await begin();
    expect(life.client.pressure()).toMatchObject({ step: 'closed', until: clock.now() + dayMs });
    for (let hour = 0; hour < 24; hour += 1) {
      await clock.advance(hourMs);
      await life.remote.refresh();
    }
    refusesUntil = 0;
    expect(await ask(life)).toBe(1);
    expect(await ask(await begin())).toBe(1);
  });

  it('allows no request before its time with an even clock and restarts at any time', async () => {
    const waits = fc.array(fc.integer({ min: 1, max: 10 * minuteMs }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: secondMs, max: hourMs }), waits, async (closedMs, lives) => {
        stores = [(await MemoryStore.open(clock, false)).store, stores[1]];
        refusesUntil = clock.now() + Math.ceil(closedMs / secondMs) * secondMs;
        const until = refusesUntil;
        let early = 0;
        for (const waitMs of lives) {
          const life = await begin();
          const isEarly = clock.now() < until;
          const left = await ask(life, 2);
          if (isEarly) early += left;
          else expect(left).toBe(2);
          await clock.advance(waitMs);
          await life.remote.refresh();
        }
        expect(early).toBe(1);
      }),
      { numRuns: runs(30) },
    );
  });
});

describe('a failing store', () => {
  it.each(['read', 'set', 'clear'] as const)('at %s harms no request, and is logged once', async (what) => {
    const counters = { ...stores[0].counters, [what]: () => Promise.reject(new Error('disk full')) };
    const life = await begin({ store: { ...stores[0], counters } });
    expect(await ask(life)).toBe(1);
    refusesUntil = clock.now() + 10 * minuteMs;
    expect(await ask(life, 3)).toBe(1);
    for (let each = 0; each < 15; each += 1) {
      await clock.advance(minuteMs);
      await life.remote.refresh();
    }
    expect(await ask(life, 3)).toBe(3);
    await life.remote[Symbol.asyncDispose]();
    expect(logger.events().filter((event) => event === 'retry_after_not_saved')).toHaveLength(1);
  });

  it('that works again has the current retry-after times', async () => {
    let isBroken = true;
    const { counters } = stores[0];
    const mended: typeof counters = {
      ...counters,
      read: (key) => (isBroken ? Promise.reject(new Error('busy')) : counters.read(key)),
    };
    refusesUntil = clock.now() + hourMs;
    await ask(await begin());
    const life = await begin({ store: { ...stores[0], counters: mended } });
    expect(life.client.pressure()).toMatchObject({ step: 'free' });
    isBroken = false;
    await life.remote.refresh();
    expect(life.client.pressure()).toMatchObject({ step: 'closed', until: refusesUntil });
    expect(Object.values(await rows())).toEqual([refusesUntil]);
  });

  it('that fails at first is not asked for times that this daemon wrote', async () => {
    let isBroken = true;
    const { counters } = stores[0];
    const read: typeof counters.read = (key) => (isBroken ? Promise.reject(new Error('busy')) : counters.read(key));
    const life = await begin({ store: { ...stores[0], counters: { ...counters, read } } });
    isBroken = false;
    refusesUntil = clock.now() + 10 * minuteMs;
    await ask(life);
    expect(Object.values(await rows())).toEqual([refusesUntil]);
    clock.jumpWall(-dayMs);
    await life.remote.refresh();
    expect(life.client.pressure()).toMatchObject({ step: 'closed', until: clock.now() + 10 * minuteMs });
  });

  it('with wrong times blocks no request for longer than a day', async () => {
    refusesUntil = clock.now() + hourMs;
    await ask(await begin());
    const [name = ''] = Object.keys(await rows());
    const key = { project: 'p', issueId: '@requests' };
    for (const value of [-1, 0, 1, Number.MAX_SAFE_INTEGER]) {
      await stores[0].counters.set(key, name, value);
      await stores[0].counters.set(key, 'closed_until', value);
      await stores[0].counters.set(key, `${name} and more`, value);
      const { step, until } = (await begin()).client.pressure();
      expect({ step, until }).toEqual(
        value > clock.now() ? { step: 'closed', until: clock.now() + dayMs } : { step: 'free', until: null },
      );
    }
  });
});

function failing(what: 'series'): Store['requestCounts'] {
  return { ...stores[0].requestCounts, [what]: () => Promise.reject(new Error('busy')) };
}
