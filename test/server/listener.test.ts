import fc from 'fast-check';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { isOwnHost, isOwnOrigin } from '../../src/server/host-check.ts';
import { type Listener, type ListenerOptions, openListener } from '../../src/server/listener.ts';
import { mostBodyBytes, readBody } from '../../src/server/read-body.ts';
import { refuse } from '../../src/server/refusal.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { send, sendBytes } from './raw-request.ts';

async function open(options: Partial<ListenerOptions> = {}) {
  const logger = memoryLogger();
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    logger,
    clock: systemClock,
    chance: systemChance,
    ...options,
  });
  onTestFinished(() => listener.close());
  return { listener, logger, port: listener.address.port };
}

/** Routes as the API will have them. */
function mountSome(listener: Listener): void {
  const routes = new Hono()
    .get('/', (context) => context.json({ ok: true }))
    .get('/boom', () => {
      throw new Error('secret-in-an-error');
    })
    .get('/bang', () => {
      // Whatever a defect may throw.
      throw 'secret-in-a-text';
    })
    .post('/echo', async (context) => {
      const body = await readBody(context.req.raw);
      return body === null ? refuse('body_too_large') : context.json({ length: body.length });
    });
  listener.mount('/api', routes);
}

function codeIn(text: string): unknown {
  return JSON.parse(text).error.code;
}

describe('the callers that the listener accepts', () => {
  const own = (port: number): string[] => [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `[::1]:${port}`,
  ];

  it('use one of its own names and its port', async () => {
    const { listener, port } = await open();
    mountSome(listener);
    for (const host of own(port)) {
      expect((await send(port, { path: '/api', headers: { host } })).status, host).toBe(200);
      const origin = `http://${host}`;
      expect((await send(port, { path: '/api', headers: { host, origin } })).status, origin).toBe(200);
    }
  });

  // @conforms tools.5
  it.each([
    'evil.example',
    '127.0.0.1',
    'localhost',
    '127.0.0.1:1',
    '127.0.0.1.evil.example:PORT',
    'localhost.:PORT',
    '127.1:PORT',
    '0.0.0.0:PORT',
    '2130706433:PORT',
    'user@127.0.0.1:PORT',
    '[::ffff:127.0.0.1]:PORT',
    '127.0.0.1:PORT@evil.example',
    '127.0.0.1:PORT, evil.example',
  ])('do not use %s as Host', async (pattern) => {
    const { listener, port } = await open();
    mountSome(listener);
    const answer = await send(port, { path: '/api', headers: { host: pattern.replace('PORT', String(port)) } });
    expect([400, 421]).toContain(answer.status);
    expect(['bad_request', 'foreign_host']).toContain(codeIn(answer.text));
  });

  it('do not name two hosts, or one in the request line and another in the header', async () => {
    const { listener, port } = await open();
    mountSome(listener);
    const good = `127.0.0.1:${port}`;
    const twice = `GET /api HTTP/1.1\r\nHost: ${good}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(port, twice)).toMatch(/^HTTP\/1\.1 4(?:00|21) /);
    const absolute = `GET http://evil.example/api HTTP/1.1\r\nHost: ${good}\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(port, absolute)).toMatch(/^HTTP\/1\.1 421 /);
    const hidden = `GET http://${good}/api HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(port, hidden)).toMatch(/^HTTP\/1\.1 421 /);
    const none = 'GET /api HTTP/1.0\r\n\r\n';
    expect(await sendBytes(port, none)).toMatch(/^HTTP\/1\.1 4/);
    const fine = `GET http://${good}/api HTTP/1.1\r\nHost: ${good}\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(port, fine)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    'null',
    'http://evil.example',
    'https://127.0.0.1:PORT',
    'http://127.0.0.1',
    'http://127.0.0.1:PORT.evil.example',
    '',
  ])('do not include a page of %j', async (pattern) => {
    const { listener, port } = await open();
    mountSome(listener);
    const headers = { host: `127.0.0.1:${port}`, origin: pattern.replace('PORT', String(port)) };
    const answer = await send(port, { method: 'POST', path: '/api/echo', headers, body: 'x' });
    expect(answer.status).toBe(403);
    expect(codeIn(answer.text)).toBe('foreign_origin');
  });

  it('do not include names that only look similar', () => {
    const port = 4_711;
    fc.assert(
      fc.property(fc.oneof(fc.webAuthority({ withPort: true }), fc.ipV4(), fc.string()), (host) => {
        const isNamed = own(port).includes(host.toLowerCase());
        expect(isOwnHost(host, port)).toBe(isNamed);
        expect(isOwnOrigin(`http://${host}`, port)).toBe(isNamed);
        expect(isOwnOrigin(`https://${host}`, port)).toBe(false);
      }),
    );
  });

  it('may leave out the default port', () => {
    expect(isOwnHost('localhost', 80)).toBe(true);
    expect(isOwnHost('localhost', 81)).toBe(false);
    expect(isOwnOrigin('http://127.0.0.1', 80)).toBe(true);
  });
});

describe('the listener', () => {
  it('listens on the loopback address only', async () => {
    const { listener } = await open();
    expect(listener.address).toMatchObject({ host: '127.0.0.1', url: `http://127.0.0.1:${listener.address.port}` });
    expect(listener.address.port).toBeGreaterThan(0);
  });

  it('answers unknown routes and wrong methods in one envelope', async () => {
    const { listener } = await open();
    mountSome(listener);
    const unknown = await fetch(`${listener.address.url}/nothing/here?token=s3cret`);
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      { error: { code: 'not_found', message: expect.any(String) } },
    ]);
    const wrong = await fetch(`${listener.address.url}/api`, { method: 'POST' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await wrong.json()).toEqual({ error: { code: 'method_not_allowed', message: expect.any(String) } });
    expect((await fetch(`${listener.address.url}/api/echo`)).status).toBe(405);
  });

  it('accepts new routes after it has served requests', async () => {
    const { listener } = await open();
    expect((await fetch(`${listener.address.url}/api`)).status).toBe(404);
    mountSome(listener);
    expect((await fetch(`${listener.address.url}/api`)).status).toBe(200);
    listener.mount(
      '/more',
      new Hono().get('/', (context) => context.text('more')),
    );
    expect(await (await fetch(`${listener.address.url}/more`)).text()).toBe('more');
    expect((await fetch(`${listener.address.url}/api`)).status).toBe(200);
  });

  it.each(['boom', 'bang'])('answers a throwing route without the reason, and logs it (%s)', async (route) => {
    const { listener, logger } = await open();
    mountSome(listener);
    const answer = await fetch(`${listener.address.url}/api/${route}`, { headers: { authorization: 'Bearer t0ken' } });
    const text = await answer.text();
    expect(answer.status).toBe(500);
    expect(text).not.toContain('secret-in');
    const [line] = logger.lines.filter(({ level }) => level === 'error');
    expect(line?.fields.request_id).toBe(JSON.parse(text).error.request_id);
    expect((await fetch(`${listener.address.url}/api`)).status).toBe(200);
  });

  it('refuses a body that is too large, announced or not', async () => {
    const { listener, port } = await open();
    mountSome(listener);
    const url = `${listener.address.url}/api/echo`;
    const most = await fetch(url, { method: 'POST', body: 'x'.repeat(mostBodyBytes) });
    expect(await most.json()).toEqual({ length: mostBodyBytes });
    const headers = { host: `127.0.0.1:${port}`, 'content-length': String(10 ** 12), connection: 'close' };
    const announced = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    expect(await sendBytes(port, `POST /api/echo HTTP/1.1\r\n${announced.join('')}\r\nx`)).toMatch(/^HTTP\/1\.1 413 /);
    const chunked = new ReadableStream({
      start: (controller) => {
        for (let part = 0; part <= 16; part += 1) controller.enqueue(new Uint8Array(mostBodyBytes / 16));
        controller.close();
      },
    });
    // `duplex` is needed for a stream and missing in the types.
    const init = { method: 'POST', body: chunked, duplex: 'half' } as RequestInit;
    expect((await fetch(url, init)).status).toBe(413);
  });

  it('disconnects a slow sender, in the header or in the body', async () => {
    const { listener, port } = await open({ arrivalLimitMs: 200 });
    mountSome(listener);
    expect(await sendBytes(port, 'GET /api HTTP/1.1\r\nHost: 127')).toMatch(/^HTTP\/1\.1 408 /);
    const halfBody = `POST /api/echo HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 10\r\n\r\nhalf`;
    expect(await sendBytes(port, halfBody)).toMatch(/^(?:HTTP\/1\.1 4|$)/);
    expect((await fetch(`${listener.address.url}/api`)).status).toBe(200);
  });

  it('gives a response the time it needs', async () => {
    const { listener } = await open({ arrivalLimitMs: 100 });
    listener.mount(
      '/slow',
      new Hono().get('/', async (context) => {
        await new Promise<void>((resolve) => systemClock.schedule(400, resolve));
        return context.text('there');
      }),
    );
    expect(await (await fetch(`${listener.address.url}/slow`)).text()).toBe('there');
  });

  it('survives garbage', async () => {
    const { listener, port, logger } = await open();
    mountSome(listener);
    const host = `Host: 127.0.0.1:${port}\r\n`;
    const garbage = [
      '\u0000\u0001\u0002\r\n\r\n',
      'GET\r\n\r\n',
      `CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n`,
      `TRACE /api HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
      `GET /api HTTP/1.1\r\n${host}Upgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n`,
      `GET /%ff%00/../../etc HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
      `GET /\\evil HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
      `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
      `POST /api/echo HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nx`,
      `POST /api/echo HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n`,
      `GET /api HTTP/1.1\r\n${host}X: ${'y'.repeat(100_000)}\r\n\r\n`,
    ];
    for (const bytes of garbage) expect(await sendBytes(port, bytes), bytes.slice(0, 40)).not.toMatch(/^HTTP\/1\.1 5/);
    expect((await fetch(`${listener.address.url}/api`)).status).toBe(200);
    expect(logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('logs neither path, query nor token of a caller', async () => {
    const { listener, logger } = await open();
    mountSome(listener);
    const headers = { authorization: 'Bearer canary-1', cookie: 'canary-2', 'mcp-session-id': 'canary-3' };
    const answers = await Promise.all(
      ['/canary-4', '/api?x=canary-5', '/api/boom?canary-6', '/api/canary-7'].map((path) =>
        fetch(`${listener.address.url}${path}`, { headers }),
      ),
    );
    const told = await Promise.all(
      answers.map(async (each) => JSON.stringify([...each.headers]) + (await each.text())),
    );
    expect(told.join('\n')).not.toContain('canary');
    expect(JSON.stringify(logger.lines)).not.toContain('canary');
    expect(logger.lines.length).toBeGreaterThan(0);
  });

  it('reports that it cannot listen', async () => {
    const { port } = await open();
    await expect(open({ port })).rejects.toMatchObject({ code: 'port_in_use', details: { port } });
  });

  it('cuts open connections when it closes, and closes once', async () => {
    const { listener, port } = await open();
    listener.mount(
      '/never',
      new Hono().get('/', () => new Promise<Response>(() => {})),
    );
    const waiting = sendBytes(port, `GET /never HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    const idle = sendBytes(port, '');
    await expect.poll(async () => (await fetch(`${listener.address.url}/x`)).status).toBe(404);
    await listener.close();
    await listener.close();
    expect(await Promise.all([waiting, idle])).toEqual(['', '']);
    await expect(fetch(listener.address.url)).rejects.toThrow();
  });
});
