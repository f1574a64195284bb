import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createApiProjects } from '../../../src/server/api/api-project.ts';
import type { Caller } from '../../../src/server/api/caller.ts';
import {
  type ConnectionEnds,
  createIdentify,
  type IdentifyParts,
  type LocalPeer,
} from '../../../src/server/api/identify.ts';
import { RequestRate } from '../../../src/server/api/request-rate.ts';
import { EventStream } from '../../../src/server/api/stream/event-stream.ts';
import { streamRoute } from '../../../src/server/api/stream/stream-route.ts';
import { isOwnHost } from '../../../src/server/host-check.ts';
import { openListener } from '../../../src/server/listener.ts';
import { TokenFile } from '../../../src/server/token-file.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { begun } from '../../orchestrator/scene.ts';
import { send } from '../raw-request.ts';
import { apiOf, projectOf } from './api-scene.ts';

function scratchFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-tokens-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return path.join(folder, 'deep', 'tokens.json');
}

describe('the token file', () => {
  // @conforms api.8
  it('returns a token once and stores only its digest, readable by its owner alone', async () => {
    const file = scratchFile();
    const tokens = new TokenFile(file, systemClock);
    const token = await tokens.create({ id: 't1', name: 'ci', scope: 'read', createdAt: 5 });
    expect(token).toMatch(/^baton_read_[\w-]{43}$/);
    expect(readFileSync(file, 'utf8')).not.toContain(token.slice(11));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(new TokenFile(file, systemClock).find(token)).toMatchObject({ id: 't1', name: 'ci', scope: 'read' });
    expect(tokens.find(`${token}x`)).toBeNull();
  });

  it('refuses a revoked token at once, also after it was read before', async () => {
    const file = scratchFile();
    const [ours, theirs] = [new TokenFile(file, systemClock), new TokenFile(file, systemClock)];
    const token = await ours.create({ id: 't1', name: 'ci', scope: 'operate', createdAt: 5 });
    expect(theirs.find(token)).not.toBeNull();
    expect(await ours.revoke('t1')).toBe(true);
    expect(theirs.find(token)).toBeNull();
    expect(await ours.revoke('t1')).toBe(false);
  });

  it.each([
    '',
    '{',
    '[]',
    '{"tokens":[{"id":1}]}',
    '{"tokens":[{"id":"a","name":"b","scope":"all","createdAt":1,"digest":"00"}]}',
  ])('grants no access when it contains %j', async (content) => {
    const file = scratchFile();
    await new TokenFile(file, systemClock).create({ id: 't1', name: 'ci', scope: 'read', createdAt: 5 });
    writeFileSync(file, content);
    expect(() => new TokenFile(file, systemClock).find('baton_read_x')).toThrow(
      expect.objectContaining({ code: 'token_file_invalid' }),
    );
  });

  // @conforms api.53
  it('loses no change when several processes create and revoke tokens at once, and leaves no draft', async () => {
    const file = scratchFile();
    const [processes, each] = [4, 15];
    const script = path.join(import.meta.dirname, 'fixtures', 'make-tokens.mjs');
    const makers = Array.from({ length: processes }, (_, index) =>
      spawn(process.execPath, [script, file, `p${index}`, `${each}`], { stdio: 'inherit' }),
    );
    const ends = await Promise.all(makers.map((maker) => once(maker, 'close')));
    expect(ends.map(([code]) => code)).toEqual(makers.map(() => 0));
    // Each revokes every third of its own.
    const kept = new TokenFile(file, systemClock).list().map(({ id }) => id);
    expect(new Set(kept).size).toBe(processes * ((each * 2) / 3));
    expect(kept).toHaveLength(processes * ((each * 2) / 3));
    expect(readdirSync(path.dirname(file)).filter((name) => !name.endsWith('.lock'))).toEqual(['tokens.json']);
  }, 60_000);

  it('can be changed after another process was killed during a change', async () => {
    const file = scratchFile();
    const tokens = new TokenFile(file, systemClock);
    await tokens.create({ id: 't1', name: 'ci', scope: 'read', createdAt: 5 });
    const lock = fileURLToPath(new URL('../../../src/store/sqlite/instance-lock.ts', import.meta.url));
    const program = `const { takeInstanceLock } = await import(${JSON.stringify(lock)}); takeInstanceLock(${JSON.stringify(file)}); console.log('locked'); setTimeout(() => {}, 60000)`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    const made = tokens.create({ id: 't2', name: 'ci', scope: 'read', createdAt: 5 });
    holder.kill('SIGKILL');
    await made;
    expect(tokens.list().map(({ id }) => id)).toEqual(['t1', 't2']);
  });
});

describe('the caller of a request', () => {
  const ends = { localAddress: '127.0.0.1', localPort: 1, remoteAddress: '127.0.0.1', remotePort: 2 };
  const peer = (found: LocalPeer): Pick<IdentifyParts, 'findPeer'> => ({ findPeer: async () => found });
  const mine = peer({ kind: 'user' });
  const person = (name: string) => ({ author: { kind: 'person', name } });

  function identifier(parts: Partial<IdentifyParts>) {
    const logger = memoryLogger();
    const tokens = new TokenFile(scratchFile(), systemClock);
    const identify = createIdentify({ tokens, isLoopback: true, userName: 'ada', logger, ...mine, ...parts });
    const ask = async (authorization?: string, socket: object = ends): Promise<Caller | number> => {
      const headers = authorization === undefined ? {} : { authorization };
      const bindings = { incoming: { socket } } as unknown as HttpBindings;
      const found = await identify(new Request('http://127.0.0.1/', { headers }), bindings);
      return found instanceof Response ? found.status : found;
    };
    return { ask, logger };
  }

  function who(parts: Partial<IdentifyParts>, authorization?: string): Promise<Caller | number> {
    return identifier(parts).ask(authorization);
  }

  async function twoTokens() {
    const tokens = new TokenFile(scratchFile(), systemClock);
    const read = await tokens.create({ id: '1', name: 'grafana', scope: 'read', createdAt: 0 });
    const operate = await tokens.create({ id: '2', name: 'phone', scope: 'operate', createdAt: 0 });
    return { tokens, read, operate };
  }

  it('is the user of this machine on the loopback address without a token', async () => {
    expect(await who({})).toEqual({ scopes: new Set(['read', 'operate']), author: { kind: 'person', name: 'ada' } });
  });

  // @conforms api.6
  it('is a run when the program belongs to one: an agent cannot pass for a person', async () => {
    expect(await who(peer({ kind: 'run', runId: 'r1' }))).toMatchObject({ author: { kind: 'run', runId: 'r1' } });
  });

  it('stays a run when it shows a token, with no more scope than the token', async () => {
    const { tokens, read, operate } = await twoTokens();
    const run = { author: { kind: 'run', runId: 'r1' } };
    for (const isLoopback of [true, false]) {
      const parts = { tokens, isLoopback, ...peer({ kind: 'run', runId: 'r1' }) };
      expect(await who(parts, `Bearer ${operate}`)).toMatchObject(run);
      expect(await who(parts, `Bearer ${read}`)).toMatchObject({ ...run, scopes: new Set(['read']) });
      expect(await who(parts, 'Bearer baton_read_AAAA')).toBe(401);
    }
  });

  it('is refused without a token when it is another user or cannot be inspected; a token identifies it', async () => {
    const { tokens, operate } = await twoTokens();
    expect(await who({ tokens, ...peer({ kind: 'other' }) })).toBe(401);
    expect(await who({ tokens, ...peer({ kind: 'other' }) }, `Bearer ${operate}`)).toMatchObject(person('phone'));
  });

  it('is refused, even with a token, when it is gone or hides', async () => {
    const { tokens, operate } = await twoTokens();
    for (const authorization of [undefined, `Bearer ${operate}`]) {
      expect(await who({ tokens, ...peer({ kind: 'unidentified' }) }, authorization)).toBe(401);
      // A connection that has ended has no other end.
      expect(await identifier({ tokens }).ask(authorization, { localAddress: '127.0.0.1', localPort: 1 })).toBe(401);
    }
  });

  it('is identified once per connection by both of its ends; only a failed identification is repeated', async () => {
    const looks: ConnectionEnds[] = [];
    const kinds = ['unidentified', 'user', 'other'] as const;
    const findPeer = async (connection: ConnectionEnds): Promise<LocalPeer> => {
      looks.push(connection);
      return { kind: kinds[looks.length - 1] ?? 'other' };
    };
    const { ask } = identifier({ findPeer });
    const socket = { ...ends };
    expect(await ask(undefined, socket)).toBe(401);
    expect(await Promise.all([ask(undefined, socket), ask(undefined, socket)])).toMatchObject([
      ...[person('ada'), person('ada')],
    ]);
    expect(looks).toEqual([ends, ends]);
    expect(await ask(undefined, { ...ends })).toBe(401);
  });

  it('is the user when the machine cannot distinguish callers', async () => {
    expect(await who(peer({ kind: 'unsupported' }))).toMatchObject(person('ada'));
  });

  // @conforms api.7
  it('is refused without a token when other machines reach the listener', async () => {
    expect(await who({ isLoopback: false })).toBe(401);
  });

  it('is the owner of the token, with its scope, until the token is revoked', async () => {
    const { tokens, read, operate } = await twoTokens();
    for (const isLoopback of [true, false]) {
      expect(await who({ tokens, isLoopback }, `Bearer ${read}`)).toEqual({
        scopes: new Set(['read']),
        ...person('grafana'),
        isRevoked: expect.any(Function),
      });
      expect(await who({ tokens, isLoopback }, `bearer ${operate}`)).toMatchObject(person('phone'));
    }
    const caller = (await who({ tokens }, `Bearer ${read}`)) as Caller;
    expect(caller.isRevoked?.()).toBe(false);
    await tokens.revoke('1');
    expect(caller.isRevoked?.()).toBe(true);
  });

  it.each(['Bearer', 'Bearer x', 'Basic eDp5', 'Bearer baton_read_AAAA', `Bearer ${'x'.repeat(5_000)}`])(
    'is refused with a bad token, also on the loopback address: %.30s',
    async (authorization) => {
      expect(await who({}, authorization)).toBe(401);
    },
  );

  // @conforms api.54
  it('is refused with any token while the token file is broken, which is logged once', async () => {
    const file = scratchFile();
    const tokens = new TokenFile(file, systemClock);
    const token = await tokens.create({ id: '1', name: 'phone', scope: 'operate', createdAt: 0 });
    const whole = readFileSync(file, 'utf8');
    const { ask, logger } = identifier({ tokens });
    const caller = (await ask(`Bearer ${token}`)) as Caller;
    writeFileSync(file, whole.slice(0, 40));
    for (const each of [token, token, 'baton_read_AAAA']) expect(await ask(`Bearer ${each}`)).toBe(401);
    expect(caller.isRevoked?.()).toBe(true);
    expect(await ask()).toMatchObject(person('ada'));
    const told = logger.lines.filter(({ level }) => level === 'error');
    expect(told).toMatchObject([{ event: 'token_file_unreadable' }]);
    writeFileSync(file, whole);
    expect(await ask(`Bearer ${token}`)).toMatchObject(person('phone'));
  });
});

describe('the event stream', () => {
  // @conforms api.51
  it('ends at the next keep-alive for a caller with a revoked token, and for no other', async () => {
    const tokens = new TokenFile(scratchFile(), systemClock);
    const [clock, logger] = [new SimulatedClock(), memoryLogger()];
    const made = ['lost', 'kept'].map((id) => tokens.create({ id, name: id, scope: 'read', createdAt: 0 }));
    const parts = { projects: createApiProjects(), clock, chance: systemChance, logger };
    const stream = new EventStream(parts);
    const findPeer = async (): Promise<LocalPeer> => ({ kind: 'user' });
    const identify = createIdentify({ tokens, isLoopback: true, userName: 'ada', findPeer, logger });
    const listener = await openListener({ ...parts, host: '127.0.0.1', port: 0, clock: systemClock });
    listener.mount('/', streamRoute(stream, { identify, projects: { isStarting: false, list: () => [] } }));
    onTestFinished(async () => {
      stream.close();
      await listener.close();
    });
    const open = async (authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const { body } = await fetch(`${listener.address.url}/api/v1/events`, { headers });
      const heard = { text: '', isOver: false };
      const read = async (): Promise<void> => {
        for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) heard.text += piece;
      };
      void read()
        .catch(() => {})
        .finally(() => {
          heard.isOver = true;
        });
      return heard;
    };
    const [lost, kept] = await Promise.all((await Promise.all(made)).map((token) => open(`Bearer ${token}`)));
    const local = await open();
    const signs = (heard: { readonly text: string } | undefined): number =>
      heard?.text.match(/still here/g)?.length ?? 0;
    await clock.advance(15_000);
    await vi.waitFor(() => expect(signs(lost)).toBeGreaterThan(0));
    const before = signs(kept);
    await tokens.revoke('lost');
    await clock.advance(15_000);
    await vi.waitFor(() => expect(lost?.isOver).toBe(true));
    await vi.waitFor(() => {
      for (const each of [kept, local]) expect(signs(each)).toBeGreaterThan(before);
    });
    expect([kept?.isOver, local?.isOver, stream.listeners]).toEqual([false, false, 2]);
  });
});

describe('a listener that only this machine reaches', () => {
  it.runIf(process.platform === 'linux')('answers on its configured address', async () => {
    const parts = { logger: memoryLogger(), clock: systemClock, chance: systemChance };
    const listener = await openListener({ ...parts, host: '127.0.0.2', port: 0 });
    onTestFinished(() => listener.close());
    listener.mount(
      '/',
      new Hono().get('/here', (context) => context.text('yes')),
    );
    const { url, port } = listener.address;
    expect(url).toBe(`http://127.0.0.2:${port}`);
    for (const [headers, status] of [
      [{}, 200],
      [{ origin: url }, 200],
      [{ origin: `http://127.0.0.3:${port}` }, 403],
    ] as const) {
      expect((await fetch(`${url}/here`, { headers })).status, JSON.stringify(headers)).toBe(status);
    }
    expect(isOwnHost(`127.0.0.2:${port}`, port)).toBe(false);
  });
});

describe('the API', () => {
  // @conforms api.5
  it('refuses pages of other sites, and foreign names that point here', async () => {
    const { listener } = await apiOf([projectOf(await begun())]);
    const { port } = listener.address;
    for (const [headers, status] of [
      [{ host: 'evil.example' }, 421],
      [{ host: `evil.example:${port}` }, 421],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: `http://127.0.0.1:${port + 1}` }, 403],
      [{ origin: `http://127.0.0.1:${port}` }, 200],
    ] as const) {
      expect((await send(port, { path: '/api/v1/state', headers })).status, JSON.stringify(headers)).toBe(status);
    }
  });

  it('refuses every change by a caller with the scope read', async () => {
    const reader: Caller = { scopes: new Set(['read']), author: { kind: 'person', name: 'r' } };
    const { ask } = await apiOf([projectOf(await begun())], reader);
    expect((await ask('GET', '/api/v1/state')).status).toBe(200);
    expect(await ask('POST', '/api/v1/projects/test/commands', { kind: 'pause' })).toMatchObject({
      status: 403,
      json: { error: { code: 'forbidden' } },
    });
  });

  it('accepts only valid JSON, and says where it is invalid', async () => {
    const { ask, url } = await apiOf([projectOf(await begun())]);
    const address = '/api/v1/projects/test/commands';
    const form = await fetch(`${url}${address}`, { method: 'POST', body: new URLSearchParams({ kind: 'pause' }) });
    expect(form.status).toBe(415);
    const broken = await fetch(`${url}${address}`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(broken.status).toBe(400);
    for (const body of [
      {},
      { kind: 'rm' },
      { kind: 'issue_hold' },
      { kind: 'issue_steer', issue: 'A', text: ' ' },
      [],
      'x',
      null,
    ]) {
      const { status, json } = await ask('POST', address, body);
      expect(status, JSON.stringify(body)).toBe(422);
      expect(json.error).toMatchObject({ code: 'invalid_request', problems: expect.any(Array) });
    }
    expect((await ask('POST', address, { kind: 'pause', reason: 'x'.repeat(2_000_000) })).status).toBe(413);
  });

  it('sends headers on every answer that isolate the page', async () => {
    const { ask } = await apiOf([projectOf(await begun())]);
    for (const path of ['/api/v1/state', '/healthz', '/metrics', '/api/v1/openapi.json']) {
      const { headers } = await ask('GET', path);
      expect(headers.get('content-security-policy'), path).toContain("default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    }
  });
});

describe('the request rate of a caller', () => {
  it('is limited and recovers with time, without affecting other callers', async () => {
    const clock = new SimulatedClock();
    const rate = new RequestRate(clock, { burst: 10, perSecond: 2 });
    const heard = (visitor: string, times: number): number =>
      Array.from({ length: times }, () => rate.take(visitor)).filter(Boolean).length;
    expect(heard('a', 50)).toBe(10);
    expect(heard('b', 5)).toBe(5);
    await clock.advance(3_000);
    expect(heard('a', 50)).toBe(6);
  });
});
