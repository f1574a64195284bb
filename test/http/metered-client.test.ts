import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/text/secret.ts';
import type { AnnouncedLimit, HttpClient, HttpProvider, HttpRequest, SentRequest } from '../../src/http/http.ts';
import { createLimiterRegistry } from '../../src/http/limiter-registry.ts';
import { createHttpClient, type HttpClientOptions } from '../../src/http/metered-client.ts';
import type { RequestBudget } from '../../src/http/spent-requests.ts';
import type { Transport, TransportAnswer, TransportRequest } from '../../src/http/transport.ts';
import { type MemoryLogger, memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

const canary = 'canary-0f3b';
const minuteMs = 60_000;

const provider: HttpProvider = {
  name: 'service',
  announced: (headers) => (headers.limits === undefined ? [] : (JSON.parse(headers.limits) as AnnouncedLimit[])),
  refusal: () => null,
};

const noBudget: RequestBudget = { requestsPerHour: null, requestsPerDay: null };

let clock: SimulatedClock;
let logger: MemoryLogger;
let sent: SentRequest[];
let received: TransportRequest[];
let behave: (request: TransportRequest) => Promise<TransportAnswer>;
let options: HttpClientOptions;
let client: HttpClient;

beforeEach(() => {
  clock = new SimulatedClock();
  logger = memoryLogger();
  sent = [];
  received = [];
  behave = async () => answer({});
  const transport: Transport = {
    async send(request) {
      request.beforeLeaving?.();
      received.push(request);
      return behave(request);
    },
    async [Symbol.asyncDispose]() {},
  };
  options = {
    provider,
    credential: new Secret(canary),
    limiters: createLimiterRegistry(clock),
    transport,
    clock,
    logger,
    budget: () => noBudget,
    onSent: (each) => void sent.push(each),
    allowInsecure: false,
  };
  client = createHttpClient(options);
});

function answer(parts: Partial<TransportAnswer>): TransportAnswer {
  return { status: 200, headers: {}, body: 'hello', bytes: 5, ...parts };
}

function ask(parts: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'GET',
    url: 'https://service.example/things/17?secret=no',
    route: '/things/:id',
    headers: { Authorization: `Bearer ${canary}`, Accept: 'text/plain' },
    caller: { job: 'tracker_poll', cause: 'poll' },
    ...parts,
  };
}

/** What a transport does that never answers, but hears its signal. */
function hang({ signal }: TransportRequest): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

describe('a call', () => {
  it('is one request, counted with caller, cause, bytes and latency', async () => {
    behave = async () => {
      await clock.advance(250);
      return answer({ status: 201, bytes: 100 });
    };
    const at = clock.now();
    const got = await client.send(ask({ method: 'POST', body: 'größe' }));
    expect(got).toEqual({ status: 201, headers: {}, body: 'hello', isUnchanged: false });
    expect(received).toMatchObject([
      { method: 'POST', body: 'größe', url: 'https://service.example/things/17?secret=no' },
    ]);
    expect(sent).toEqual([
      {
        at,
        provider: 'service',
        route: '/things/:id',
        method: 'POST',
        statusClass: '2xx',
        job: 'tracker_poll',
        cause: 'poll',
        bytes: 107,
        latencyMs: 250,
      },
    ]);
  });

  it.each([200, 304, 404, 429, 500])('that is answered with %i is an answer, not an error', async (status) => {
    behave = async () => answer({ status });
    expect(await client.send(ask())).toMatchObject({ status, isUnchanged: false });
    expect(sent).toMatchObject([{ statusClass: `${String(status)[0]}xx` }]);
  });

  // @conforms F110
  it('that fails is counted, is not repeated, and names the reason', async () => {
    behave = () => Promise.reject(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }));
    await expect(client.send(ask({ body: '1234' }))).rejects.toMatchObject({
      code: 'request_failed',
      retryable: true,
      details: { provider: 'service', method: 'GET', route: '/things/:id', host: 'service.example', reason: 'cut' },
    });
    expect(received).toHaveLength(1);
    expect(sent).toMatchObject([{ statusClass: 'error', bytes: 4 }]);
  });

  it('that fails uses up nothing of an announced limit', async () => {
    const resetAt = clock.now() + 60 * minuteMs;
    const limits = JSON.stringify([{ name: 'requests', limit: 100, remaining: 50, resetAt }]);
    behave = async () => answer({ headers: { limits } });
    await client.send(ask());
    behave = () => Promise.reject(new Error('down'));
    for (let each = 0; each < 60; each += 1) {
      await expect(client.send(ask())).rejects.toMatchObject({ code: 'request_failed' });
    }
    expect(client.pressure().step).toBe('free');
  });

  it('that hangs ends after thirty seconds, even if its transport ignores the signal', async () => {
    behave = () => new Promise(() => {});
    const call = client.send(ask()).catch((error: unknown) => error);
    await clock.advance(29_999);
    expect(sent).toEqual([]);
    await clock.advance(1);
    expect(await call).toMatchObject({ code: 'request_failed', details: { reason: 'timed_out' } });
    expect(received[0]?.signal.aborted).toBe(true);
    expect(sent).toMatchObject([{ statusClass: 'error', latencyMs: 30_000 }]);
    expect(clock.pending).toBe(0);
  });

  it('leaves no timer and no listener behind', async () => {
    const controller = new AbortController();
    await client.send(ask({ signal: controller.signal }));
    expect(clock.pending).toBe(0);
    controller.abort(new Error('late'));
    expect(received[0]?.signal.aborted).toBe(false);
    expect(sent).toHaveLength(1);
  });

  it('that is aborted before it begins is not sent and not counted', async () => {
    const reason = new Error('not any more');
    await expect(client.send(ask({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect([received, sent]).toEqual([[], []]);
  });

  it('that is aborted in flight rejects with the reason and is counted once', async () => {
    behave = hang;
    const controller = new AbortController();
    const reason = new Error('not any more');
    const call = client.send(ask({ signal: controller.signal }));
    await clock.advance(1_000);
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(sent).toMatchObject([{ statusClass: 'error', latencyMs: 1_000 }]);
    expect(clock.pending).toBe(0);
  });

  it.each(['http://service.example/', 'ftp://localhost/', 'nonsense'])('to %s is not sent', async (url) => {
    await expect(client.send(ask({ url }))).rejects.toMatchObject({ code: 'insecure_endpoint', retryable: false });
    expect([received, sent]).toEqual([[], []]);
  });

  it('over http may go to this machine, and to another one only if the client allows insecure addresses', async () => {
    await client.send(ask({ url: 'http://127.0.0.1:1/' }));
    await createHttpClient({ ...options, allowInsecure: true }).send(ask({ url: 'http://service.example/' }));
    expect(received).toHaveLength(2);
  });
});

describe('while a service refuses requests', () => {
  it('a call rejects at once, sends and counts nothing, and works again afterwards', async () => {
    behave = async () => answer({ status: 429, headers: { 'retry-after': '60' } });
    await client.send(ask());
    const until = clock.now() + minuteMs;
    await expect(client.send(ask())).rejects.toMatchObject({ code: 'request_limited', details: { until } });
    expect([received.length, sent.length]).toEqual([1, 1]);
    expect(client.pressure()).toMatchObject({ step: 'closed', until });
    await clock.advance(minuteMs);
    behave = async () => answer({});
    await client.send(ask());
    expect(logger.events()).toEqual(['requests_closed', 'requests_resumed']);
  });

  it('every client with the same credential is refused, and no other', async () => {
    const same = createHttpClient({ ...options, credential: new Secret(canary) });
    const other = createHttpClient({ ...options, credential: new Secret('another') });
    behave = async () => answer({ status: 429 });
    await client.send(ask());
    await expect(same.send(ask())).rejects.toMatchObject({ code: 'request_limited' });
    expect(other.pressure().step).toBe('free');
    await other.send(ask());
  });

  it('a call that waits for a connection is not sent and not counted', async () => {
    const waiting: (() => void)[] = [];
    const slow: Transport = {
      async send(request) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        request.beforeLeaving?.();
        received.push(request);
        return answer({ status: 429 });
      },
      async [Symbol.asyncDispose]() {},
    };
    const patient = createHttpClient({ ...options, transport: slow });
    const calls = Array.from({ length: 50 }, () => patient.send(ask()));
    const outcomes = Promise.allSettled(calls);
    waiting[0]?.();
    await clock.settle();
    for (const go of waiting) go();
    const codes = (await outcomes).map((each) => (each.status === 'fulfilled' ? each.value.status : each.reason.code));
    expect(codes).toEqual([429, ...Array.from({ length: 49 }, () => 'request_limited')]);
    expect([received.length, sent.length]).toEqual([1, 1]);
  });

  it('a call is refused with its reason even when a caller aborts with an error of the same code', async () => {
    behave = hang;
    const controller = new AbortController();
    const call = client.send(ask({ signal: controller.signal })).catch((error: unknown) => error);
    const [limited] = await Promise.all([expectLimited(), clock.settle()]);
    controller.abort(limited);
    expect(await call).toBe(limited);
    expect(sent.filter(({ statusClass }) => statusClass === 'error')).toHaveLength(1);
  });
});

/** A `request_limited`, made by a client of its own. */
async function expectLimited(): Promise<unknown> {
  const spent = createHttpClient({ ...options, budget: () => ({ requestsPerHour: 0, requestsPerDay: null }) });
  return spent.send(ask()).catch((error: unknown) => error);
}

describe('budgets', () => {
  it('are logged at each step, once', async () => {
    const small = createHttpClient({ ...options, budget: () => ({ requestsPerHour: 100, requestsPerDay: null }) });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 120 }, () => small.send(ask({ caller: { job: 'essential', cause: 'running' } }))),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
    await expect(small.send(ask())).rejects.toMatchObject({ code: 'request_limited' });
    const steps = logger.lines.map(({ level, fields }) => [level, fields.step, fields.provider]);
    expect(steps.at(-1)).toEqual(['warn', 'closed', 'service']);
    expect(new Set(steps.map(([, step]) => step)).size).toBe(steps.length);
  });

  it('are logged step by step while they are spent', async () => {
    const small = createHttpClient({ ...options, budget: () => ({ requestsPerHour: 100, requestsPerDay: null }) });
    for (let each = 0; each < 100; each += 1) await small.send(ask({ caller: { job: 'essential', cause: 'running' } }));
    expect(logger.lines.map(({ fields }) => fields.step)).toEqual(['warned', 'stretched', 'essential_only', 'closed']);
    await clock.advance(61 * minuteMs);
    await small.send(ask());
    expect(logger.events().at(-1)).toBe('requests_resumed');
    expect(logger.lines).toHaveLength(5);
  });

  it('of two projects on one credential do not repeat log entries', async () => {
    const poor = createHttpClient({ ...options, budget: () => ({ requestsPerHour: 10, requestsPerDay: null }) });
    for (let turn = 0; turn < 30; turn += 1) {
      await poor.send(ask()).catch(() => {});
      await client.send(ask());
    }
    expect(client.pressure().step).toBe('free');
    expect(poor.pressure().step).toBe('closed');
    // What anybody sent counts for the budget of who has one.
    expect(poor.windows()).toMatchObject([{ name: 'requests_per_hour', used: sent.length }]);
    const steps = logger.lines.map(({ fields }) => fields.step);
    expect(steps).toEqual([...new Set(steps)]);
    expect(steps.at(-1)).toBe('closed');
  });
});

describe('a step that comes and goes', () => {
  it('is not logged at every change', async () => {
    const limits = (remaining: number): string =>
      JSON.stringify([{ name: 'requests', limit: 100, remaining, resetAt: clock.now() + 60 * minuteMs }]);
    for (let turn = 0; turn < 20; turn += 1) {
      behave = async () => answer({ headers: { limits: limits(turn % 2 === 0 ? 10 : 40) } });
      await client.send(ask());
    }
    expect(logger.events().length).toBeLessThanOrEqual(3);
    await clock.advance(11 * minuteMs);
    behave = async () => answer({ headers: { limits: limits(10) } });
    await client.send(ask());
    expect(logger.events().filter((message) => message.includes('stretched'))).toHaveLength(2);
  });
});

describe('the sink for counts', () => {
  it.each<[string, HttpClientOptions['onSent']]>([
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('that %s does no harm and is logged once', async (_, onSent) => {
    const unlucky = createHttpClient({ ...options, onSent });
    for (let each = 0; each < 5; each += 1) expect(await unlucky.send(ask())).toMatchObject({ status: 200 });
    behave = () => Promise.reject(new Error('down'));
    await expect(unlucky.send(ask())).rejects.toMatchObject({ code: 'request_failed' });
    await clock.settle();
    expect(logger.events()).toEqual(['request_not_counted']);
  });

  it('that never answers delays no call', async () => {
    const stuck = createHttpClient({ ...options, onSent: () => new Promise(() => {}) });
    expect(await stuck.send(ask())).toMatchObject({ status: 200 });
  });
});

describe('the store', () => {
  it('reads the written counts so that nothing counts twice or not at all', async () => {
    const budget = { requestsPerHour: 1_000, requestsPerDay: null };
    const writing = Promise.withResolvers<void>();
    const counted = createHttpClient({ ...options, budget: () => budget, onSent: () => writing.promise });
    const limiter = options.limiters.limiterOf(provider, options.credential);
    for (let each = 0; each < 3; each += 1) await counted.send(ask());
    const bucket = (count: number) => ({ beginsAt: clock.now(), cause: 'poll', count });
    await limiter.seed('', async () => ({ minutes: [bucket(5)], days: [] }));
    expect(counted.windows()).toMatchObject([{ used: 8 }]);
    writing.resolve();
    await clock.settle();
    await limiter.seed('', async () => ({ minutes: [bucket(8)], days: [] }));
    expect(counted.windows()).toMatchObject([{ used: 8 }]);
  });
});

describe('a cached GET', () => {
  const tagged = { etag: '"v1"', link: '<next>', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };

  // @conforms requests.6
  it('asks whether its answer is still valid, and returns the cached answer when it is', async () => {
    behave = async () => answer({ headers: { ...tagged, age: '1' }, body: 'whole' });
    await client.send(ask());
    behave = async () => answer({ status: 304, headers: { etag: 'W/"v1"', age: '2' }, body: '' });
    expect(await client.send(ask())).toEqual({
      status: 304,
      headers: { ...tagged, etag: 'W/"v1"', age: '2' },
      body: 'whole',
      isUnchanged: true,
    });
    expect(received[0]?.headers).not.toHaveProperty('if-none-match');
    expect(received[1]?.headers).toMatchObject({
      'if-none-match': '"v1"',
      'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT',
    });
    expect(sent.map(({ statusClass }) => statusClass)).toEqual(['2xx', '3xx']);
  });

  it('returns a new answer', async () => {
    behave = async () => answer({ headers: tagged });
    await client.send(ask());
    behave = async () => answer({ headers: { etag: '"v2"' }, body: 'new' });
    expect(await client.send(ask())).toMatchObject({ body: 'new', isUnchanged: false });
    await client.send(ask());
    expect(received[2]?.headers).toMatchObject({ 'if-none-match': '"v2"' });
    expect(received[2]?.headers).not.toHaveProperty('if-modified-since');
  });

  it.each<[string, Partial<HttpRequest>]>([
    ['another address', { url: 'https://service.example/things/18' }],
    ['another credential', { headers: { Authorization: 'Bearer other', Accept: 'text/plain' } }],
    ['another Accept', { headers: { Authorization: `Bearer ${canary}`, Accept: 'text/html' } }],
    ['another method', { method: 'POST' }],
  ])('is not revalidated under %s', async (_, other) => {
    behave = async () => answer({ headers: tagged });
    await client.send(ask());
    await client.send(ask(other));
    expect(received[1]?.headers).not.toHaveProperty('if-none-match');
  });

  it('is left to a caller that sends its own validator', async () => {
    behave = async () => answer({ headers: tagged });
    await client.send(ask());
    behave = async () => answer({ status: 304, body: '' });
    const headers = { ...ask().headers, 'If-None-Match': '"mine"' };
    expect(await client.send(ask({ headers }))).toMatchObject({ status: 304, body: '', isUnchanged: true });
    expect(received[1]?.headers).toEqual(headers);
  });

  it('ignores a 304 about another version, and forgets the answer', async () => {
    behave = async () => answer({ headers: tagged });
    await client.send(ask());
    behave = async () => answer({ status: 304, headers: { etag: '"v7"' }, body: '' });
    await expect(client.send(ask())).rejects.toMatchObject({
      code: 'request_failed',
      details: { reason: 'unreadable' },
    });
    behave = async () => answer({});
    await client.send(ask());
    expect(received[2]?.headers).not.toHaveProperty('if-none-match');
    expect(sent).toHaveLength(3);
  });

  it.each<[string, Partial<TransportAnswer>]>([
    ['an error', { status: 500, headers: tagged }],
    ['something not to be stored', { headers: { ...tagged, 'cache-control': 'private, no-store' } }],
    ['something without a validator', {}],
    ['a tag that is none', { headers: { etag: '"a"\r\nx: y' } }],
    ['something too large', { headers: tagged, body: 'x'.repeat(2 * 1024 * 1024 + 1) }],
  ])('is not cached when it was %s', async (_, parts) => {
    behave = async () => answer(parts);
    await client.send(ask());
    await client.send(ask());
    expect(received[1]?.headers).toEqual(ask().headers);
  });

  it('is limited in number: the least recently used answer goes', async () => {
    behave = async () => answer({ headers: tagged });
    const thing = (id: number): HttpRequest => ask({ url: `https://service.example/things/${id}` });
    for (let id = 0; id < 128; id += 1) await client.send(thing(id));
    behave = async () => answer({ status: 304, body: '' });
    await client.send(thing(0));
    behave = async () => answer({ headers: tagged });
    await client.send(thing(128));
    received.length = 0;
    for (const id of [0, 128, 1]) await client.send(thing(id));
    expect(received.map(({ headers }) => 'if-none-match' in headers)).toEqual([true, true, false]);
  });

  it('is limited in size', async () => {
    behave = async () => answer({ headers: tagged, body: 'x'.repeat(2 * 1024 * 1024) });
    const thing = (id: number): HttpRequest => ask({ url: `https://service.example/things/${id}` });
    for (let id = 0; id < 5; id += 1) await client.send(thing(id));
    received.length = 0;
    for (const id of [4, 3, 2, 1]) await client.send(thing(id));
    expect(received.every(({ headers }) => 'if-none-match' in headers)).toBe(true);
    await client.send(thing(0));
    expect(received.at(-1)?.headers).not.toHaveProperty('if-none-match');
  });
});

describe('a credential', () => {
  // @conforms requests.8
  it('is in no error, log entry, count or cache key, whatever fails', async () => {
    const told: unknown[] = [client, options.limiters];
    const failures: (() => Promise<TransportAnswer>)[] = [
      () =>
        Promise.reject(
          Object.assign(new Error(`bad Bearer ${canary}`), { code: 'HPE_INVALID', data: `Bearer ${canary}` }),
        ),
      () => Promise.reject(canary),
      () => Promise.reject(new Error('x', { cause: { headers: `Bearer ${canary}` } })),
      async () => answer({ headers: { limits: `[${canary}` } }),
      async () => answer({ status: 429, headers: { limits: `[${canary}`, 'retry-after': canary } }),
    ];
    for (const fail of failures) {
      behave = fail;
      const limiters = createLimiterRegistry(clock);
      const each = createHttpClient({ ...options, limiters });
      for (let times = 0; times < 2; times += 1)
        told.push(
          await each.send(ask()).then(
            (got) => got.status,
            (error) => error,
          ),
        );
      told.push(each, limiters);
    }
    told.push(await client.send(ask({ url: 'http://service.example/' })).catch((error: unknown) => error));
    const text = inspect([told, logger.lines, sent], { depth: Number.POSITIVE_INFINITY, showHidden: true });
    expect(text).not.toContain(canary);
    expect(JSON.stringify([told, logger.lines, sent])).not.toContain(canary);
    expect(text).toContain('[secret]');
  });
});
