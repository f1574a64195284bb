import type { HttpBindings } from '@hono/node-server';
import { describe, expect, it } from 'vitest';
import { createAdmit, type Identify } from '../../../src/server/api/admit.ts';
import type { Caller } from '../../../src/server/api/caller.ts';
import { refuse } from '../../../src/server/refusal.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { begun } from '../../orchestrator/scene.ts';
import { send } from '../raw-request.ts';
import { apiOf, projectOf } from './api-scene.ts';

const person = (name: string): Caller => ({ scopes: new Set(['read', 'operate']), author: { kind: 'person', name } });
const run = (runId: string): Caller => ({ scopes: new Set(['read', 'operate']), author: { kind: 'run', runId } });

/** Each says himself who he is; who says nothing is nobody. */
const byHeader: Identify = async (request) => {
  const who = request.headers.get('x-who');
  if (who === null) return refuse('unauthorized');
  return who.startsWith('run-') ? run(who) : person(who);
};

/** A connection of its own. */
function connection(remoteAddress = '127.0.0.1'): HttpBindings {
  return { incoming: { socket: { remoteAddress } } } as unknown as HttpBindings;
}

function asker(clock = new SimulatedClock()) {
  let looks = 0;
  const admit = createAdmit((request, bindings) => {
    looks += 1;
    return byHeader(request, bindings);
  }, clock);
  const ask = async (who: string | null, from = connection()): Promise<number> => {
    const headers = who === null ? {} : { 'x-who': who };
    const found = await admit(new Request('http://baton/', { headers }), from);
    return found instanceof Response ? found.status : 200;
  };
  return { clock, ask, looks: () => looks };
}

async function counted(times: number, ask: () => Promise<number>): Promise<Record<number, number>> {
  const found: Record<number, number> = {};
  for (let count = 0; count < times; count += 1) {
    const status = await ask();
    found[status] = (found[status] ?? 0) + 1;
  }
  return found;
}

describe('the request rate', () => {
  // @conforms api.59
  it('is counted per caller, whatever the address: no caller uses up the rate of another', async () => {
    const { ask, clock } = asker();
    expect(await counted(1_000, () => ask('ada'))).toEqual({ 200: 600, 429: 400 });
    expect(await ask('ada', connection('127.9.9.9'))).toBe(429);
    expect(await counted(50, () => ask('ben'))).toEqual({ 200: 50 });
    await clock.advance(1_000);
    expect(await counted(1_000, () => ask('ada'))).toEqual({ 200: 100, 429: 900 });
  });

  it('is lower for agents, and counted per agent', async () => {
    const { ask } = asker();
    expect(await counted(500, () => ask('run-1'))).toEqual({ 200: 60, 429: 440 });
    expect(await counted(50, () => ask('run-2'))).toEqual({ 200: 50 });
    expect(await ask('ada')).toBe(200);
  });

  it('does not depend on strangers of this machine: known callers proceed at once, new ones wait for their turn', async () => {
    const { ask, clock, looks } = asker();
    const mine = connection();
    expect(await ask('ada', mine)).toBe(200);
    // All at once, each on a connection of its own.
    const theirs = Array.from({ length: 1_000 }, (_, at) => ask(null, connection(`127.0.1.${at % 200}`)));
    await clock.advance(0);
    expect(looks()).toBeLessThan(220);
    expect(await ask('ada', mine)).toBe(200);
    const statuses = theirs.slice(-500);
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([429]));
    await clock.advance(500);
    const late = ask('ada', connection());
    await clock.advance(2_000);
    expect(await late).toBe(200);
    await Promise.all(theirs);
    expect(looks()).toBeLessThan(320);
  });

  it('is counted per address when other machines reach the listener', async () => {
    const { ask } = asker();
    expect(await counted(500, () => ask(null, connection('10.0.0.1')))).toEqual({ 401: 200, 429: 300 });
    expect(await ask(null, connection('10.0.0.2'))).toBe(401);
    expect(await ask('ada', connection('10.0.0.2'))).toBe(200);
  });

  it('closes the connection of a refused caller', async () => {
    const { listener } = await apiOf([projectOf(await begun())], refuse('unauthorized'));
    const { port } = listener.address;
    const own = { host: `127.0.0.1:${port}`, connection: 'keep-alive' };
    for (const [headers, status] of [
      [own, 401],
      [{ ...own, origin: 'http://evil.example' }, 403],
      [{ ...own, host: 'evil.example' }, 421],
    ] as const) {
      const answer = await send(port, { path: '/api/v1/state', headers });
      expect([answer.status, answer.headers.connection]).toEqual([status, 'close']);
    }
  });
});

describe('event streams', () => {
  const opened = async (url: string, who: string): Promise<{ status: number; end(): Promise<void> }> => {
    const over = new AbortController();
    const response = await fetch(`${url}/api/v1/events`, { headers: { 'x-who': who }, signal: over.signal });
    return { status: response.status, end: async () => over.abort() };
  };

  // @conforms api.61
  it('are limited per caller and in total, and an ended stream frees its place', { timeout: 30_000 }, async () => {
    const limits = { streams: { most: 6, mostOfOne: 4, mostOfRuns: 1 } };
    const stage = await begun();
    const runId = stage.runs[0]?.request.runId ?? '';
    const identify: Identify = async (request, bindings) =>
      request.headers.get('x-who')?.startsWith('run-') ? run(runId) : byHeader(request, bindings);
    const { url, ask } = await apiOf([projectOf(stage)], undefined, { identify, limits });
    const ada = [];
    for (let count = 0; count < 6; count += 1) ada.push(await opened(url, 'ada'));
    expect(ada.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429, 429]);
    expect((await opened(url, 'run-1')).status).toBe(200);
    expect((await opened(url, 'run-2')).status).toBe(429);
    expect((await opened(url, 'ben')).status).toBe(200);
    expect((await opened(url, 'ben')).status).toBe(429);
    await ada[0]?.end();
    await expect.poll(async () => (await opened(url, 'ben')).status).toBe(200);
    expect((await ask('GET', '/healthz')).status).toBe(200);
  });
});
