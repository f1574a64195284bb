import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { RequestCause } from '../../src/core/requests/request-caller.ts';
import { Secret } from '../../src/core/text/secret.ts';
import type { AnnouncedLimit, HttpAnswer, HttpProvider, HttpRequest, SentRequest } from '../../src/http/http.ts';
import { createLimiterRegistry } from '../../src/http/limiter-registry.ts';
import { createHttpClient, type HttpClientOptions } from '../../src/http/metered-client.ts';
import type { Transport } from '../../src/http/transport.ts';
import { createUndiciTransport, type UndiciTransportOptions } from '../../src/http/undici-transport.ts';
import { type MemoryLogger, memoryLogger } from '../fake/memory-logger.ts';
import { httpService, rawService, selfSigned, tlsService } from './scratch-service.ts';

const canary = 'canary-9c1d';
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

const provider: HttpProvider = {
  name: 'service',
  announced: ({ 'x-limit': limit, 'x-remaining': remaining, 'x-reset': resetAt }): AnnouncedLimit[] =>
    limit === undefined
      ? []
      : [{ name: 'requests', limit: Number(limit), remaining: Number(remaining), resetAt: Number(resetAt) }],
  refusal: () => null,
};

let logger: MemoryLogger;
let sent: SentRequest[];
let transport: Transport;

beforeEach(() => {
  logger = memoryLogger();
  sent = [];
  transport = transportWith({});
});

afterEach(async () => {
  await transport[Symbol.asyncDispose]();
});

function transportWith(parts: Partial<UndiciTransportOptions>): Transport {
  return createUndiciTransport({ environment: {}, userAgent: 'baton/test', ...parts });
}

/** A fresh client, and so a fresh limiter, on the transport of the test. */
function clientWith(parts: Partial<HttpClientOptions> = {}): {
  get(url: string, parts?: Partial<HttpRequest>): Promise<HttpAnswer>;
} {
  const client = createHttpClient({
    provider,
    credential: new Secret(canary),
    limiters: createLimiterRegistry(systemClock),
    transport,
    clock: systemClock,
    logger,
    budget: () => ({ requestsPerHour: null, requestsPerDay: null }),
    onSent: (each) => void sent.push(each),
    allowInsecure: false,
    ...parts,
  });
  const caller = { job: 'test', cause: 'running' as RequestCause };
  const headers = { authorization: `Bearer ${canary}` };
  return { get: (url, more) => client.send({ method: 'GET', url, route: '/', headers, caller, ...more }) };
}

/** Why a call failed, with the proof that it was counted once and told nobody the credential. */
async function reasonOf(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => {
      throw new Error('it did not fail');
    },
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'request_failed' });
  const text = inspect([error, logger.lines, sent], { depth: Number.POSITIVE_INFINITY, showHidden: true });
  expect(text).not.toContain(canary);
  expect(JSON.stringify([error, logger.lines, sent])).not.toContain(canary);
  expect(sent.map(({ statusClass }) => statusClass)).toEqual(['error']);
  return (error as { details: { reason: string } }).details.reason;
}

describe('an answer', () => {
  it('has lower-case header names, with repeated headers joined', async () => {
    await using service = await rawService((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nX-Thing: One\r\nx-thing: Two\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 6\r\n\r\ngrö\u00dfe',
      ),
    );
    const { status, headers, body } = await clientWith().get(service.url);
    expect({ status, headers, body }).toMatchObject({
      status: 200,
      headers: { 'x-thing': 'One, Two', 'set-cookie': 'a, b' },
    });
    expect(body).toBe(Buffer.from('größe').subarray(0, 6).toString());
  });

  it.each<[string, (body: string) => Buffer]>([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['identity', Buffer.from],
    ['gzip, br', (body) => brotliCompressSync(gzipSync(body))],
  ])('that is packed with %s is unpacked, and counted as on the wire', async (encoding, pack) => {
    const text = 'größe '.repeat(1_000);
    const packed = pack(text);
    await using service = await httpService((request, response) => {
      expect(request.headers['accept-encoding']).toBe('gzip, br');
      response.setHeader('content-encoding', encoding).end(packed);
    });
    expect(await clientWith().get(service.url)).toMatchObject({ body: text });
    expect(sent).toMatchObject([{ bytes: packed.length, statusClass: '2xx' }]);
  });

  it('without a body may name an encoding', async () => {
    await using service = await httpService(
      (_, response) => void response.writeHead(204, { 'content-encoding': 'gzip' }).end(),
    );
    expect(await clientWith().get(service.url)).toMatchObject({ status: 204, body: '' });
  });

  it('with invalid UTF-8 is still read', async () => {
    await using service = await httpService((_, response) => void response.end(Buffer.from([0x61, 0xff, 0x62])));
    expect(await clientWith().get(service.url)).toMatchObject({ body: 'a\ufffdb' });
  });

  // @conforms requests.7
  it('that redirects is not followed, and the credential is not sent on', async () => {
    await using other = await httpService((_, response) => void response.end('trap'));
    await using service = await httpService((_, response) => {
      response.writeHead(302, { location: `http://localhost:${other.port}/` }).end();
    });
    for (const method of ['GET', 'POST'] as const) {
      expect(await clientWith().get(service.url, { method })).toMatchObject({ status: 302 });
    }
    expect(other.seen.connections).toBe(0);
  });

  it('follows a request with the given body, method, agent and headers', async () => {
    await using service = await httpService(async (request, response) => {
      const body = (await request.toArray()).join('');
      response.end(JSON.stringify({ method: request.method, headers: request.headers, body }));
    });
    const { body } = await clientWith().get(service.url, { method: 'PATCH', body: 'größe', headers: { 'X-Key': 'a' } });
    expect(JSON.parse(body)).toMatchObject({
      method: 'PATCH',
      body: 'größe',
      headers: { 'x-key': 'a', 'user-agent': 'baton/test', 'content-length': '7' },
    });
  });
});

describe('a harmful service', () => {
  const short = { connectTimeoutMs: 300, headTimeoutMs: 300, bodyTimeoutMs: 300, largestBodyBytes: 1024 * 1024 };

  beforeEach(async () => {
    await transport[Symbol.asyncDispose]();
    transport = transportWith({ limits: short });
  });

  it.each<[what: string, reason: string, talk: Parameters<typeof rawService>[0]]>([
    ['says nothing', 'timed_out', () => {}],
    ['stops in the head', 'timed_out', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-le')],
    ['stops in the body', 'timed_out', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhalf')],
    ['hangs up', 'cut', (socket) => socket.destroy()],
    ['hangs up in the head', 'cut', (socket) => socket.end('HTTP/1.1 200 OK\r\ncont')],
    ['hangs up in the body', 'cut', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhalf')],
    [
      'resets in the body',
      'cut',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhalf', () => socket.resetAndDestroy()),
    ],
    [
      'hangs up between two chunks',
      'cut',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'),
    ],
    [
      'sends a chunk of no size',
      'unreadable',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhalf\r\n'),
    ],
    ['speaks something else', 'unreadable', (socket) => socket.write('220 smtp.example ready\r\n')],
    ['sends the request back', 'unreadable', (socket, said) => socket.write(said)],
    [
      'sends the request back as a header',
      'unreadable',
      (socket, said) => socket.write(`HTTP/1.1 200 OK\r\n${said.replaceAll('\r\n', ' \u0000')}\r\n\r\n`),
    ],
    [
      'has a head without end',
      'too_large',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`),
    ],
    [
      'has two lengths',
      'cut',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    ],
    [
      'packs with something else',
      'unreadable',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: lzma\r\ncontent-length: 2\r\n\r\nab'),
    ],
    [
      'says that it is packed',
      'unreadable',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nab'),
    ],
  ])('%s: %s, once, and the next call works', async (_, reason, talk) => {
    let isGood = false;
    await using service = await rawService((socket, said) =>
      isGood ? void socket.write(whole) : void talk(socket, said),
    );
    expect(await reasonOf(clientWith().get(service.url))).toBe(reason);
    await sleep(20);
    expect(service.seen.requests).toBe(1);
    isGood = true;
    expect(await clientWith().get(service.url)).toMatchObject({ body: 'ok' });
    expect(service.seen.requests).toBe(2);
  });

  it('sends more than it announced: only the announced part is read', async () => {
    await using service = await rawService((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\nevil'),
    );
    const got = await clientWith()
      .get(service.url)
      .then(
        ({ body }) => body,
        ({ code }) => code,
      );
    expect(['ok', 'request_failed']).toContain(got);
    const next = await clientWith()
      .get(service.url)
      .then(
        ({ body }) => body,
        ({ code }) => code,
      );
    expect(['ok', 'request_failed']).toContain(next);
    expect(service.seen.requests).toBe(2);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['identity', (body: Buffer) => body],
  ])('sends a decompression bomb (%s): it is not unpacked beyond the limit', async (encoding, pack) => {
    const bomb = pack(Buffer.alloc(8 * 1024 * 1024));
    await using service = await httpService(
      (_, response) => void response.setHeader('content-encoding', encoding).end(bomb),
    );
    expect(await reasonOf(clientWith().get(service.url))).toBe('too_large');
  });

  it('sends byte by byte: the whole call still times out', async () => {
    await using service = await httpService((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(drip));
    });
    expect(await reasonOf(clientWith({ callTimeoutMs: 700 }).get(service.url))).toBe('timed_out');
    expect(sent[0]?.latencyMs).toBeGreaterThanOrEqual(690);
  });

  it('does not listen', async () => {
    const service = await httpService(() => {});
    await service[Symbol.asyncDispose]();
    expect(await reasonOf(clientWith().get(service.url))).toBe('refused');
  });

  it('does not exist', async () => {
    expect(await reasonOf(clientWith().get('https://service.invalid/'))).toBe('unknown_host');
  });

  it('speaks no TLS', async () => {
    await using service = await rawService((socket) => socket.write(whole));
    expect(['untrusted', 'cut']).toContain(await reasonOf(clientWith().get(service.url.replace('http:', 'https:'))));
  });

  it('gets no request with an invalid header', async () => {
    await using service = await httpService((_, response) => void response.end());
    const headers = { authorization: `Bearer ${canary}\r\nx: y` };
    expect(await reasonOf(clientWith().get(service.url, { headers }))).toBe('invalid');
    expect(service.seen.requests).toBe(0);
  });
});

describe('an abort', () => {
  it('in flight ends the call at once and reaches the service', async () => {
    const gone = Promise.withResolvers<void>();
    const came = Promise.withResolvers<void>();
    await using service = await httpService((request) => {
      request.on('close', gone.resolve);
      came.resolve();
    });
    const controller = new AbortController();
    const reason = new Error('enough');
    const call = clientWith().get(service.url, { signal: controller.signal });
    await came.promise;
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await gone.promise;
    expect(sent).toMatchObject([{ statusClass: 'error' }]);
  });

  it('in the body ends the call with its reason', async () => {
    await using service = await rawService((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhalf'),
    );
    const controller = new AbortController();
    const reason = new Error('enough');
    const call = clientWith().get(service.url, { signal: controller.signal });
    await sleep(100);
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  it('before the call sends nothing', async () => {
    await using service = await httpService((_, response) => void response.end());
    await expect(clientWith().get(service.url, { signal: AbortSignal.abort(new Error('no')) })).rejects.toThrow('no');
    await expect(
      transport.send({
        method: 'GET',
        url: service.url,
        headers: {},
        body: null,
        signal: AbortSignal.abort(new Error('no')),
      }),
    ).rejects.toThrow('no');
    expect(service.seen.connections).toBe(0);
  });
});

describe('limits of a service', () => {
  it.each<[string, Record<string, string>]>([
    ['seconds', { 'retry-after': '120' }],
    ['a date', { 'retry-after': new Date(Date.now() + 120_000).toUTCString() }],
    ['garbage', { 'retry-after': 'later' }],
    ['nothing', {}],
  ])('named in a 429 with %s block all requests', async (_, headers) => {
    await using service = await httpService((_, response) => void response.writeHead(429, headers).end());
    const client = clientWith();
    expect(await client.get(service.url)).toMatchObject({ status: 429 });
    const error = await client.get(service.url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'request_limited' });
    const { until } = (error as { details: { until: number } }).details;
    expect(until - Date.now()).toBeGreaterThan(50_000);
    expect(until - Date.now()).toBeLessThanOrEqual(120_000);
    expect(service.seen.requests).toBe(1);
  });

  it('named in a 503 are obeyed exactly until their end', async () => {
    await using service = await httpService((_, response) => {
      if (service.seen.requests === 1) response.writeHead(503, { 'retry-after': '1' }).end();
      else response.end('ok');
    });
    const client = clientWith();
    await client.get(service.url);
    const { details } = await client.get(service.url).catch((error) => error);
    while (Date.now() < details.until) await sleep(5);
    expect(await client.get(service.url)).toMatchObject({ body: 'ok' });
    expect(service.seen.requests).toBe(2);
  });

  it('that are used up block until the reset', async () => {
    const resetAt = Date.now() + 60_000;
    await using service = await httpService((_, response) => {
      response.writeHead(200, { 'x-limit': '100', 'x-remaining': '0', 'x-reset': String(resetAt) }).end();
    });
    const client = clientWith();
    await client.get(service.url);
    await expect(client.get(service.url)).rejects.toMatchObject({
      code: 'request_limited',
      details: { until: resetAt },
    });
    expect(service.seen.requests).toBe(1);
  });

  it('block all of 50 calls at once that were not sent before the refusal', async () => {
    await using service = await httpService((_, response) => {
      if (service.seen.requests === 1) response.writeHead(429, { 'retry-after': '60' }).end();
      else setTimeout(() => response.end('ok'), 100);
    });
    const client = clientWith();
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => client.get(service.url)));
    const limited = outcomes.filter(({ status }) => status === 'rejected');
    for (const each of limited) expect(each).toMatchObject({ reason: { code: 'request_limited' } });
    for (let each = 0; each < 50; each += 1) {
      await expect(client.get(service.url)).rejects.toMatchObject({ code: 'request_limited' });
    }
    await sleep(50);
    expect(service.seen.requests).toBe(50 - limited.length);
    expect(sent).toHaveLength(service.seen.requests);
  });
});

describe('a request that is held back', () => {
  it('sends no byte, and its connection serves the next request', async () => {
    await using service = await rawService((socket) => socket.write(whole));
    const signal = new AbortController().signal;
    const request = { method: 'GET', url: service.url, headers: {}, body: null, signal };
    const held = new Error('held');
    await expect(
      transport.send({
        ...request,
        beforeLeaving: () => {
          throw held;
        },
      }),
    ).rejects.toBe(held);
    expect(service.seen.requests).toBe(0);
    let asked = 0;
    const answer = await transport.send({
      ...request,
      beforeLeaving: () => {
        asked += 1;
      },
    });
    expect([answer.body, asked, service.seen.requests]).toEqual(['ok', 1, 1]);
    expect(service.seen.connections).toBe(1);
  });
});

describe('connections', () => {
  // @conforms requests.10
  it('are reused: two requests six seconds apart share one', async () => {
    await using service = await rawService((socket) => socket.write(whole));
    await clientWith().get(service.url);
    await sleep(6_000);
    await clientWith().get(service.url);
    expect(service.seen).toEqual({ connections: 1, requests: 2 });
  });

  it('that the service closed while idle cost no request', async () => {
    await using service = await rawService((socket) => socket.end(whole));
    for (let each = 1; each <= 3; each += 1) {
      expect(await clientWith().get(service.url)).toMatchObject({ body: 'ok' });
      await sleep(20);
    }
    expect(service.seen).toEqual({ connections: 3, requests: 3 });
  });

  it('close with the transport, and requests in flight end', async () => {
    await using service = await rawService(() => {});
    const call = reasonOf(clientWith().get(service.url));
    await sleep(100);
    await transport[Symbol.asyncDispose]();
    expect(await call).toBe('cut');
  });

  it('to any name below localhost stay on this machine', async () => {
    await using service = await httpService((_, response) => void response.end('here'));
    expect(await clientWith().get(`http://tracker.localhost:${service.port}/`)).toMatchObject({ body: 'here' });
  });
});

describe('a proxy of the environment', () => {
  /** Answers plain requests itself and lets tunnels through to `port`, or refuses them. */
  function proxyTo(port: number | null, ready = (): Promise<void> => Promise.resolve()): ReturnType<typeof rawService> {
    return rawService(async (socket, said) => {
      const [line = ''] = said.split('\r\n');
      lines.push(line);
      if (!line.startsWith('CONNECT')) return void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nproxy');
      if (port === null) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      await ready();
      const onward = connect(port, '127.0.0.1');
      onward.on('error', () => socket.destroy());
      socket.removeAllListeners('data');
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
  }

  let lines: string[];

  beforeEach(async () => {
    lines = [];
    await transport[Symbol.asyncDispose]();
  });

  it.each(['http_proxy', 'HTTP_PROXY'])('is used for http by %s', async (name) => {
    await using proxy = await proxyTo(null);
    transport = transportWith({ environment: { [name]: proxy.url } });
    const client = clientWith({ allowInsecure: true });
    expect(await client.get('http://service.example/things')).toMatchObject({ body: 'proxy' });
    expect(lines).toEqual(['GET http://service.example/things HTTP/1.1']);
  });

  it.each(['https_proxy', 'HTTPS_PROXY'])('is used for https by %s, and its refusal is reported', async (name) => {
    await using proxy = await proxyTo(null);
    transport = transportWith({ environment: { [name]: proxy.url.replace('://', `://user:${canary}@`) } });
    expect(await reasonOf(clientWith().get('https://service.example/'))).toBe('proxy');
    expect(lines).toEqual(['CONNECT service.example:443 HTTP/1.1']);
  });

  it('keeps its connection', async () => {
    await using proxy = await proxyTo(null);
    transport = transportWith({ environment: { HTTP_PROXY: proxy.url } });
    for (let each = 0; each < 3; each += 1) {
      await clientWith({ allowInsecure: true }).get('http://service.example/');
      await sleep(20);
    }
    expect(proxy.seen.connections).toBe(1);
  });

  it.skipIf(!hasOpenssl)('tunnels https end to end, so that it cannot see the credential', async () => {
    const { key, cert } = selfSigned('service.example');
    const trusted = getCACertificates('default');
    await using service = await tlsService({ key, cert }, (request, response) => {
      response.end(request.headers.authorization);
    });
    await using proxy = await proxyTo(service.port);
    transport = transportWith({ environment: { HTTPS_PROXY: proxy.url } });
    expect(await reasonOf(clientWith().get('https://service.example/'))).toBe('untrusted');
    expect(service.seen.requests).toBe(0);
    try {
      setDefaultCACertificates([...trusted, cert]);
      expect(await clientWith().get('https://service.example/')).toMatchObject({ body: `Bearer ${canary}` });
    } finally {
      setDefaultCACertificates(trusted);
    }
    expect(lines).toEqual(['CONNECT service.example:443 HTTP/1.1', 'CONNECT service.example:443 HTTP/1.1']);
    expect(service.seen.requests).toBe(1);
  });

  // @conforms requests.5
  it.skipIf(!hasOpenssl)('that is slow does not let a waiting call through after a refusal', async () => {
    const { key, cert } = selfSigned('service.example');
    const trusted = getCACertificates('default');
    await using service = await tlsService({ key, cert }, (_, response) => {
      response.writeHead(429, { 'retry-after': '60' }).end();
    });
    const door = Promise.withResolvers<void>();
    await using proxy = await proxyTo(service.port, () => (lines.length === 1 ? Promise.resolve() : door.promise));
    transport = transportWith({ environment: { HTTPS_PROXY: proxy.url } });
    try {
      setDefaultCACertificates([...trusted, cert]);
      const client = clientWith();
      const calls = Array.from({ length: 50 }, () =>
        client.get('https://service.example/').then(({ status }) => status),
      );
      expect(await Promise.race(calls)).toBe(429);
      door.resolve();
      const outcomes = await Promise.allSettled(calls);
      const limited = outcomes.filter((each) => each.status === 'rejected' && each.reason.code === 'request_limited');
      expect(limited).toHaveLength(49);
    } finally {
      setDefaultCACertificates(trusted);
    }
    expect([service.seen.requests, sent.length]).toEqual([1, 1]);
  });

  it('is bypassed for NO_PROXY', async () => {
    await using proxy = await proxyTo(null);
    transport = transportWith({ environment: { HTTPS_PROXY: proxy.url, NO_PROXY: 'other.example,.invalid' } });
    expect(await reasonOf(clientWith().get('https://service.invalid/'))).toBe('unknown_host');
    expect(proxy.seen.connections).toBe(0);
  });

  it('never sees requests that stay on this machine', async () => {
    await using proxy = await proxyTo(null);
    await using service = await httpService((_, response) => void response.end('here'));
    transport = transportWith({ environment: { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url } });
    expect(await clientWith().get(service.url)).toMatchObject({ body: 'here' });
    expect(proxy.seen.connections).toBe(0);
  });

  it('with an invalid address fails only the requests that need it', async () => {
    await using service = await httpService((_, response) => void response.end('here'));
    transport = transportWith({ environment: { HTTPS_PROXY: `http://user:${canary}@[bad` } });
    expect(await reasonOf(clientWith().get('https://service.example/'))).toBe('proxy');
    expect(await clientWith().get(service.url)).toMatchObject({ body: 'here' });
  });

  it('is not read from the environment of the process alone', async () => {
    await using proxy = await proxyTo(null);
    for (const name of ['HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, proxy.url);
    for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '');
    try {
      transport = transportWith({});
      expect(await reasonOf(clientWith().get('https://service.invalid/'))).toBe('unknown_host');
    } finally {
      vi.unstubAllEnvs();
    }
    expect(proxy.seen.connections).toBe(0);
  });
});
