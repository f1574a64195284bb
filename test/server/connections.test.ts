import { connect, type Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { type ConnectionLimits, markKnown, markStranger } from '../../src/server/connections.ts';
import { openListener } from '../../src/server/listener.ts';
import { memoryLogger } from '../fake/memory-logger.ts';

/** A listener with one address for those who are known, one for strangers, one that is slow and one that gives much. */
async function open(connections: Partial<ConnectionLimits>) {
  const parts = { clock: systemClock, chance: systemChance, logger: memoryLogger() };
  const listener = await openListener({ host: '127.0.0.1', port: 0, ...parts, connections });
  onTestFinished(() => listener.close());
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/known', (context) => {
    markKnown(context.env.incoming.socket);
    return context.text('you');
  });
  app.get('/stranger', (context) => {
    markStranger(context.env.incoming.socket);
    return context.text('somebody');
  });
  app.get('/slow', async (context) => {
    await sleep(systemClock, 1_500);
    return context.text('at last');
  });
  app.get('/much', (context) => context.text('x'.repeat(64 * 2 ** 20)));
  listener.mount('/', app as unknown as Hono);
  return listener.address.port;
}

interface Held {
  readonly socket: Socket;
  heard: string;
  isClosed: boolean;
}

/** A connection that is kept, and may ask several times. */
async function hold(port: number, path?: string): Promise<Held> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const held: Held = { socket, heard: '', isClosed: false };
  socket.on('data', (chunk) => {
    held.heard += chunk;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    held.isClosed = true;
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  if (path !== undefined) await ask(held, port, path);
  return held;
}

async function ask(held: Held, port: number, path: string): Promise<void> {
  held.heard = '';
  held.socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  await expect.poll(() => held.heard.startsWith('HTTP/1.1 200 ') || held.isClosed).toBe(true);
}

const patient = { timeout: 20_000 };

describe('the connections of a listener', () => {
  // @conforms api.60
  it('of strangers are closed for new ones, the oldest first, and those of known callers stay', async () => {
    const port = await open({ most: 6 });
    const mine = await hold(port, '/known');
    const theirs: Held[] = [];
    for (let count = 0; count < 40; count += 1)
      theirs.push(await hold(port, count % 2 === 0 ? '/stranger' : undefined));
    await expect.poll(() => theirs.filter(({ isClosed }) => isClosed).length, patient).toBe(35);
    expect(theirs.slice(0, 35).every(({ isClosed }) => isClosed)).toBe(true);
    const another = await hold(port, '/known');
    await ask(mine, port, '/known');
    expect([mine.isClosed, another.heard.slice(0, 12)]).toEqual([false, 'HTTP/1.1 200']);
  });

  it('never exceed their limit for any caller', async () => {
    const port = await open({ most: 3 });
    for (let count = 0; count < 3; count += 1) await hold(port, '/known');
    const late = await hold(port);
    await expect.poll(() => late.isClosed, patient).toBe(true);
  });

  it('of strangers are closed when idle, and others are kept', async () => {
    const port = await open({ strangerIdleMs: 300 });
    const [known, stranger] = [await hold(port, '/known'), await hold(port, '/stranger')];
    await expect.poll(() => stranger.isClosed, patient).toBe(true);
    await ask(known, port, '/known');
    expect(known.isClosed).toBe(false);
    // Whoever has become known is none any more.
    const late = await hold(port, '/stranger');
    await ask(late, port, '/known');
    await sleep(systemClock, 1_000);
    expect(late.isClosed).toBe(false);
  });

  it('are cut when a response is not read, but not because it takes long to make', async () => {
    const port = await open({ unreadMs: 400 });
    const deaf = connect(port, '127.0.0.1');
    onTestFinished(() => void deaf.destroy());
    let isCut = false;
    deaf.on('error', () => {});
    deaf.on('close', () => {
      isCut = true;
    });
    deaf.pause();
    deaf.write(`GET /much HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    const waiting = await hold(port, '/slow');
    expect([waiting.isClosed, waiting.heard]).toEqual([false, expect.stringContaining('at last')]);
    // Only who reads sees the end; there is less to be read than the whole.
    await sleep(systemClock, 1_500);
    let bytes = 0;
    deaf.on('data', (chunk) => {
      bytes += chunk.length;
    });
    deaf.resume();
    await expect.poll(() => isCut, patient).toBe(true);
    expect(bytes).toBeLessThan(64 * 2 ** 20);
  });
});
