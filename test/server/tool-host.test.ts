import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../src/clock/clock.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { ToolAddress, ToolSet } from '../../src/core/tool-set.ts';
import { createAccessTokens } from '../../src/server/access-tokens.ts';
import { openListener } from '../../src/server/listener.ts';
import { createToolHost } from '../../src/server/tool-host.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

/** A client of the time before 2026-07-28, as Codex, and one that asks for the newer protocol first, as Claude Code. */
const ages = ['legacy', 'auto'] as const;
type Age = (typeof ages)[number];

async function open({ clock = systemClock, keepAliveMs = 10_000 }: { clock?: Clock; keepAliveMs?: number } = {}) {
  const logger = memoryLogger();
  const chance = systemChance;
  const listener = await openListener({ host: '127.0.0.1', port: 0, logger, clock: systemClock, chance });
  onTestFinished(() => listener.close());
  const tokens = createAccessTokens();
  const host = createToolHost({
    listener,
    tokens,
    clock,
    chance,
    keepAliveMs,
    findPeer: async () => ({ kind: 'user' }),
  });
  return { host, listener, logger, tokens, door: scriptedDoor() };
}

interface ScriptedDoor extends ToolSet {
  readonly calls: { readonly name: string; readonly input: unknown; readonly signal: AbortSignal | undefined }[];
  /** Answers every call to `wait` that is under way. */
  release(): void;
}

function scriptedDoor(mark = 'door'): ScriptedDoor {
  const calls: ScriptedDoor['calls'] = [];
  let waiting: (() => void)[] = [];
  const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } });
  return {
    calls,
    release: () => {
      for (const each of waiting) each();
      waiting = [];
    },
    tools: ['say', 'fail', 'wait'].map(tool),
    call: async (name, input, signal) => {
      calls.push({ name, input, signal });
      if (name === 'wait') await new Promise<void>((resolve) => waiting.push(resolve));
      if (name === 'fail') return { success: false, output: '{"error":{"code":"tracker_auth"}}' };
      return { success: true, output: `${mark}: ${JSON.stringify(input)}` };
    },
  };
}

async function connect({ url, token }: ToolAddress, age: Age, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: age }, ...options });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
  );
  onTestFinished(() => client.close());
  return client;
}

const acceptBoth = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

function post(
  { url, token }: ToolAddress,
  body: unknown,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...acceptBoth, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  });
}

function initialize(version: string) {
  return {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  };
}

async function openSession(address: ToolAddress, version = '2025-06-18'): Promise<Record<string, string>> {
  const answer = await post(address, initialize(version));
  await answer.text();
  return { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': version };
}

const call = (name: string, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});

/** The same request with the envelope that the protocol of 2026 has. */
function modern<Message extends { readonly params: object }>(message: Message) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { ...message, params: { ...message.params, _meta } };
}

/** The messages in a stream that has ended. */
function messagesIn(stream: string): unknown[] {
  return [...stream.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
}

describe.each(ages)('the tools of a run over MCP, for a "%s" client', (age) => {
  // @conforms 4.144
  it('are listed and called', async () => {
    const { host, door } = await open();
    const client = await connect(host.admit('run-1', door), age);
    expect(client.getNegotiatedProtocolVersion()).toBe(age === 'legacy' ? '2025-11-25' : '2026-07-28');
    expect((await client.listTools()).tools).toMatchObject(
      door.tools.map(({ name, description }) => ({ name, description, inputSchema: { type: 'object' } })),
    );
    expect(await client.callTool({ name: 'say', arguments: { a: 1 } })).toMatchObject({
      content: [{ type: 'text', text: 'door: {"a":1}' }],
      isError: false,
    });
    expect(await client.callTool({ name: 'say' })).toMatchObject({ content: [{ text: 'door: {}' }] });
  });

  it('return a failure as an error of the tool, with its message', async () => {
    const { host, door } = await open();
    const client = await connect(host.admit('run-1', door), age);
    expect(await client.callTool({ name: 'fail', arguments: {} })).toMatchObject({
      content: [{ type: 'text', text: '{"error":{"code":"tracker_auth"}}' }],
      isError: true,
    });
  });

  it('leave it to the tool set which tools exist', async () => {
    const { host, door } = await open();
    const client = await connect(host.admit('run-1', door), age);
    await client.callTool({ name: 'no_such_tool', arguments: {} });
    expect(door.calls.at(-1)).toMatchObject({ name: 'no_such_tool' });
  });

  it('are called fifty at a time, each with its own answer', async () => {
    const { host, door } = await open();
    const client = await connect(host.admit('run-1', door), age);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => client.callTool({ name: 'say', arguments: { n } })),
    );
    expect(answers.map(({ content }) => content)).toEqual(
      Array.from({ length: 50 }, (_, n) => [{ type: 'text', text: `door: {"n":${n}}` }]),
    );
  });

  it('are those of the run that owns the token', async () => {
    const { host } = await open();
    const doors = [scriptedDoor('one'), scriptedDoor('two')] as const;
    const one = await connect(host.admit('run-1', doors[0]), age);
    const two = await connect(host.admit('run-2', doors[1]), age);
    const said = await Promise.all([one, two].map((each) => each.callTool({ name: 'say', arguments: {} })));
    expect(said).toMatchObject([{ content: [{ text: 'one: {}' }] }, { content: [{ text: 'two: {}' }] }]);
    host.dismiss('run-1');
    await expect(one.callTool({ name: 'say', arguments: {} })).rejects.toThrow();
    expect(await two.callTool({ name: 'say', arguments: {} })).toMatchObject({ isError: false });
    expect(doors[0].calls).toHaveLength(1);
  });

  it('end with the run: a call in progress is aborted and answered at once', async () => {
    const { host, door } = await open();
    const client = await connect(host.admit('run-1', door), age);
    const waiting = client.callTool({ name: 'wait', arguments: {} });
    await expect.poll(() => door.calls.length).toBe(1);
    host.dismiss('run-1');
    expect(await waiting).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"run_cancelled"') }],
    });
    expect(door.calls[0]?.signal?.aborted).toBe(true);
  });

  it('are aborted when the client cancels a call or disconnects', async () => {
    const { host, door } = await open();
    const client = await connect(host.admit('run-1', door), age);
    const patience = new AbortController();
    const givenUp = client.callTool({ name: 'wait', arguments: {} }, { signal: patience.signal });
    await expect.poll(() => door.calls.length).toBe(1);
    patience.abort();
    await expect(givenUp).rejects.toThrow();
    await expect.poll(() => door.calls[0]?.signal?.aborted).toBe(true);

    const left = client.callTool({ name: 'wait', arguments: {} });
    left.catch(() => {});
    await expect.poll(() => door.calls.length).toBe(2);
    expect(door.calls[1]?.signal?.aborted).toBe(false);
    await client.close();
    await expect.poll(() => door.calls[1]?.signal?.aborted).toBe(true);
  });

  it('keep a client with a silence timeout waiting for minutes', async () => {
    const clock = new SimulatedClock();
    const { host, door } = await open({ clock });
    const client = await connect(host.admit('run-1', door), age);
    let beats = 0;
    const answer = client.callTool(
      { name: 'wait', arguments: {} },
      {
        timeout: 20_000,
        resetTimeoutOnProgress: true,
        onprogress: () => {
          beats += 1;
        },
      },
    );
    await expect.poll(() => door.calls.length).toBe(1);
    await clock.advance(10 * 60_000);
    await expect.poll(() => beats).toBe(60);
    door.release();
    expect(await answer).toMatchObject({ isError: false });
    expect(clock.pending).toBe(0);
  });
});

describe('the MCP endpoint', () => {
  it('is closed without a valid token of the right scope, and repeats no token', async () => {
    const { host, door, tokens, logger } = await open();
    const address = host.admit('run-1', door);
    const reader = tokens.issue({ scope: 'read', holder: 'somebody' });
    for (const [token, status, code] of [
      ['', 401, 'unauthorized'],
      ['guess', 401, 'unauthorized'],
      [`${address.token}x`, 401, 'unauthorized'],
      [reader, 403, 'forbidden'],
    ] as const) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const headers = { ...acceptBoth, authorization: `Bearer ${token}` };
        const answer = await fetch(address.url, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) });
        const text = await answer.text();
        expect([answer.status, JSON.parse(text).error.code], `${method} ${token}`).toEqual([status, code]);
        if (token !== '') expect(text).not.toContain(token);
      }
    }
    expect((await fetch(address.url, { method: 'POST', body: '{}' })).headers.get('www-authenticate')).toBe('Bearer');
    expect(JSON.stringify(logger.lines)).not.toContain(address.token);
    expect(door.calls).toEqual([]);
  });

  // @conforms tools.4
  it('rejects the token of a run after the run has ended', async () => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const session = await openSession(address);
    host.dismiss('run-1');
    host.dismiss('run-1');
    const answer = await post(address, call('say'), session);
    expect(answer.status).toBe(401);
    expect((await answer.json()) as unknown).toMatchObject({ error: { code: 'unauthorized' } });
    expect(door.calls).toEqual([]);
  });

  it('refuses a request that was still arriving when the run ended', async () => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const session = await openSession(address);
    let finish = (): void => {};
    const body = new ReadableStream({
      start: (controller) => {
        const bytes = new TextEncoder().encode(JSON.stringify(call('say')));
        controller.enqueue(bytes.slice(0, 10));
        finish = () => {
          controller.enqueue(bytes.slice(10));
          controller.close();
        };
      },
    });
    const headers = { authorization: `Bearer ${address.token}`, ...acceptBoth, ...session };
    // `duplex` is needed for a stream and missing in the types.
    const answer = fetch(address.url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    // Its head has been judged when a request that was sent later is answered.
    expect((await post(address, call('say', 2), session)).status).toBe(200);
    host.dismiss('run-1');
    finish();
    expect((await answer).status).toBe(401);
    expect(door.calls).toHaveLength(1);
  });

  it('gives a run that is admitted again a new token, and the old one is invalid', async () => {
    const { host, door } = await open();
    const first = host.admit('run-1', door);
    const second = host.admit('run-1', door);
    expect(second.token).not.toBe(first.token);
    expect((await post(first, initialize('2025-06-18'))).status).toBe(401);
    const session = await openSession(second);
    const answer = await post(second, call('wait'), session);
    await expect.poll(() => door.calls.length).toBe(1);
    host.admit('run-1', door);
    expect(messagesIn(await answer.text())).toMatchObject([{ result: { isError: true } }]);
    expect(door.calls[0]?.signal?.aborted).toBe(true);
  });

  it.each(['2025-03-26', '2025-06-18', '2025-11-25'])('opens sessions of the protocol %s', async (version) => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const answer = await post(address, initialize(version));
    expect(messagesIn(await answer.text())).toMatchObject([{ id: 0, result: { protocolVersion: version } }]);
    const session = await openSession(address, version);
    const initialized = await post(address, { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    expect(initialized.status).toBe(202);
    expect(messagesIn(await (await post(address, call('say', 'seven'), session)).text())).toMatchObject([
      { id: 'seven', result: { content: [{ text: 'door: {}' }] } },
    ]);
    const headers = { ...session, authorization: `Bearer ${address.token}`, accept: 'text/event-stream' };
    const stop = new AbortController();
    const stream = await fetch(address.url, { headers, signal: stop.signal });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    stop.abort();
    expect((await fetch(address.url, { method: 'DELETE', headers })).status).toBe(200);
    expect((await post(address, call('say'), session)).status).toBe(404);
  });

  it('answers a client that tries the protocol of 2026 first', async () => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const discover = modern({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: {} });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' };
    const answer = await post(address, discover, headers);
    expect(answer.status).toBe(200);
    expect(messagesIn(await answer.text())).toMatchObject([
      { id: 1, result: { supportedVersions: expect.arrayContaining(['2026-07-28']) } },
    ]);
    // A probe without the envelope of that protocol gets a refusal, by which such a client falls back.
    const bare = await post(address, { jsonrpc: '2.0', id: 1, method: 'server/discover' }, headers);
    expect(bare.status).toBe(400);
  });

  it('limits its sessions, and drops the least recently used one', async () => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const used = await openSession(address);
    const unused = await openSession(address);
    for (let more = 0; more < 15; more += 1) {
      expect((await post(address, call('say'), used)).status).toBe(200);
      await openSession(address);
    }
    expect((await post(address, call('say'), used)).status).toBe(200);
    expect((await post(address, call('say'), unused)).status).toBe(404);
  });

  it('drops no session with a call in progress while another can be dropped', async () => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const answer = await post(address, call('wait'), await openSession(address));
    await expect.poll(() => door.calls.length).toBe(1);
    for (let more = 0; more < 40; more += 1) await openSession(address);
    expect(door.calls[0]?.signal?.aborted).toBe(false);
    door.release();
    expect(messagesIn(await answer.text())).toMatchObject([{ result: { isError: false } }]);
    await openSession(address);
  });

  it('keeps the sessions of runs apart', async () => {
    const { host } = await open();
    const [mine, theirs] = [scriptedDoor('mine'), scriptedDoor('theirs')];
    const session = await openSession(host.admit('run-1', theirs));
    expect((await post(host.admit('run-2', mine), call('say'), session)).status).toBe(404);
    expect([...mine.calls, ...theirs.calls]).toEqual([]);
  });

  it.each([
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['null', 'null', 400],
    ['a number', '7', 400],
    ['no message', '{"a":1}', 400],
    ['a list of nothing', '[]', 400],
    ['bytes that are no text', '\ud800', 400],
    ['a depth that no parser likes', `${'['.repeat(200_000)}`, 400],
    ['too much', 'x'.repeat(2 * 1_024 * 1_024), 413],
  ])('refuses %s', async (_what, body, status) => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const session = await openSession(address);
    expect([400, 413, 202]).toContain((await post(address, body)).status);
    const answer = await post(address, body, session);
    const text = await answer.text();
    expect(answer.status === status || (status === 400 && answer.status === 202), `${answer.status} ${text}`).toBe(
      true,
    );
    expect(door.calls).toEqual([]);
    expect((await post(address, call('say'), session)).status).toBe(200);
  });

  it.each([
    ['an Accept that takes no stream', { accept: 'application/json' }, 406],
    ['another kind of body', { 'content-type': 'text/plain' }, 415],
    ['a protocol that nobody knows', { 'mcp-protocol-version': '1999-01-01' }, 400],
  ])('refuses %s', async (_what, headers, status) => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const session = await openSession(address);
    expect((await post(address, call('say'), { ...session, ...headers })).status).toBe(status);
    expect(door.calls).toEqual([]);
  });

  it('rejects other methods and paths', async () => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const authorization = `Bearer ${address.token}`;
    expect((await fetch(address.url, { method: 'PUT', headers: { authorization } })).status).toBe(405);
    expect((await fetch(`${address.url}/other`, { headers: { authorization } })).status).toBe(404);
  });

  it('sends keep-alives while an answer takes long', async () => {
    const { host, door } = await open({ keepAliveMs: 20 });
    const address = host.admit('run-1', door);
    const session = await openSession(address);
    for (const [body, headers] of [
      [call('wait'), session],
      [modern(call('wait')), { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'wait' }],
    ] as const) {
      const answer = await post(address, body, headers);
      // The head is there before the answer: nobody counts the time to it.
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      let heard = '';
      for await (const chunk of answer.body ?? []) {
        heard += new TextDecoder().decode(chunk);
        if (heard.split(': keepalive').length > 3) door.release();
      }
      expect(messagesIn(heard)).toMatchObject([{ id: 1, result: { isError: false } }]);
    }
    expect(door.calls).toHaveLength(2);
  });

  it('ends the stream of a call that was cancelled by a message', async () => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const session = await openSession(address);
    const answer = await post(address, call('wait', 'w'), session);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'w' } };
    await expect.poll(() => door.calls.length).toBe(1);
    expect((await post(address, cancelled, session)).status).toBe(202);
    expect(messagesIn(await answer.text())).toEqual([]);
    expect(door.calls[0]?.signal?.aborted).toBe(true);
  });

  it('closes every stream when the run ends', async () => {
    const { host, door } = await open();
    const address = host.admit('run-1', door);
    const session = await openSession(address);
    const headers = { ...session, authorization: `Bearer ${address.token}`, accept: 'text/event-stream' };
    const stream = await fetch(address.url, { headers });
    host.dismiss('run-1');
    expect(await stream.text()).toBe('');
  });
});
