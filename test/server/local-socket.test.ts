import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { askDaemon } from '../../src/server/ask-daemon.ts';
import { LocalSocket } from '../../src/server/local-socket.ts';
import { socketPath } from '../../src/server/socket-path.ts';
import { memoryLogger } from '../fake/memory-logger.ts';

const clean: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const each of clean.splice(0).reverse()) await each();
});

async function open() {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-socket-'));
  clean.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'baton.sock');
  // A file that an earlier daemon left behind.
  writeFileSync(file, '');
  const heard = { wakes: 0, reloads: 0 };
  const answers = {
    wake: () => {
      heard.wakes += 1;
    },
    reload: () => {
      heard.reloads += 1;
    },
    status: () => ({ running: 3 }),
  };
  const socket = await LocalSocket.open({ path: file, answers, clock: systemClock, logger: memoryLogger() });
  clean.push(() => socket.close());
  return { file, heard, socket };
}

/** Says something raw and gives everything that comes back until the connection ends. */
function say(file: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const connection = createConnection(file, () => connection.write(text));
    let answer = '';
    connection.on('data', (chunk) => {
      answer += chunk;
    });
    connection.on('error', () => resolve(answer));
    connection.on('close', () => resolve(answer));
  });
}

describe('the local socket', () => {
  it('hears a wake and tells the status, for its own user only', async () => {
    const { file, heard } = await open();
    expect(await askDaemon(file, 'wake', systemClock)).toEqual({ ok: true });
    expect(await askDaemon(file, 'status', systemClock)).toEqual({ ok: true, status: { running: 3 } });
    expect(await askDaemon(file, 'reload', systemClock)).toEqual({ ok: true });
    expect(heard).toEqual({ wakes: 1, reloads: 1 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['garbage', 'what?\n'],
    ['another wish', '{"ask":"stop"}\n'],
    ['no object', '42\n'],
    ['null', 'null\n'],
  ])('answers %s and changes nothing', async (_what, text) => {
    const { file, heard } = await open();
    expect(JSON.parse(await say(file, text))).toMatchObject({ ok: false });
    expect(heard.wakes).toBe(0);
  });

  it('sends a visitor away who never ends a line, and goes on', async () => {
    const { file, heard } = await open();
    expect(await say(file, 'x'.repeat(100_000))).toBe('');
    await askDaemon(file, 'wake', systemClock);
    expect(heard.wakes).toBe(1);
  });

  it('serves many at once', async () => {
    const { file, heard } = await open();
    await Promise.all(Array.from({ length: 50 }, () => askDaemon(file, 'wake', systemClock)));
    expect(heard.wakes).toBe(50);
  });

  it('is gone after it was closed, also with a visitor inside, and nobody is then nobody', async () => {
    const { file, socket } = await open();
    const visitor = say(file, '{"ask"');
    await socket.close();
    await visitor;
    expect(await askDaemon(file, 'wake', systemClock)).toBeNull();
    expect(await askDaemon('/nowhere/at/all.sock', 'status', systemClock)).toBeNull();
  });

  it('cannot be opened where no folder is', async () => {
    const answers = { wake: () => {}, reload: () => {}, status: () => null };
    const opening = LocalSocket.open({
      path: '/nowhere/baton.sock',
      answers,
      clock: systemClock,
      logger: memoryLogger(),
    });
    await expect(opening).rejects.toMatchObject({ code: 'local_socket_failed' });
  });
});

describe('its path', () => {
  it('is in the state folder, or in the temporary one when the system could not take it there', () => {
    expect(socketPath('/state', '/tmp')).toBe('/state/baton.sock');
    const far = socketPath(`/${'deep/'.repeat(40)}state`, '/tmp');
    expect(far).toMatch(/^\/tmp\/baton-[0-9a-f]{16}\.sock$/);
    expect(socketPath(`/${'deep/'.repeat(40)}other`, '/tmp')).not.toBe(far);
  });
});
