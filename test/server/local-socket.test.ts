import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/clock/clock.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { askDaemon } from '../../src/server/ask-daemon.ts';
import { LocalSocket } from '../../src/server/local-socket.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { telling } from '../telling.ts';

const clean: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const each of clean.splice(0).reverse()) await each();
});

/** What a test wants to be asked for an explanation. */
type Explain = (issue: string) => Promise<unknown>;

async function open(explain: Explain = async (issue) => ({ about: issue }), clock: Clock = systemClock) {
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
    explain,
  };
  const logger = memoryLogger();
  const socket = await LocalSocket.open({ path: file, answers, clock, logger });
  clean.push(() => socket.close());
  return { file, heard, socket, logger };
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

/** As `say`, and closes this side at once. */
function sayAndClose(file: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const connection = createConnection({ path: file, allowHalfOpen: true }, () => connection.end(text));
    let answer = '';
    connection.on('data', (chunk) => {
      answer += chunk;
    });
    connection.on('error', () => resolve(answer));
    connection.on('end', () => resolve(answer));
  });
}

describe('the local socket', () => {
  // @conforms board.9
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

  it('explains an issue by the name it is given', async () => {
    const { file } = await open();
    const answer = await askDaemon(file, { explain: ' BAT-1 ' }, systemClock);
    expect(answer).toEqual({ ok: true, explanation: { about: 'BAT-1' } });
  });

  it.each([
    ['no issue', '{"ask":"explain"}'],
    ['a number', '{"ask":"explain","issue":1}'],
    ['a list', '{"ask":"explain","issue":["BAT-1"]}'],
    ['an object', '{"ask":"explain","issue":{"toString":"x"}}'],
    ['a blank name', '{"ask":"explain","issue":" \\t"}'],
    ['a name too long', `{"ask":"explain","issue":"${'x'.repeat(501)}"}`],
  ])('refuses to explain %s, and says what it needs', async (_what, text) => {
    let asked = 0;
    const { file } = await open(async () => {
      asked += 1;
    });
    expect(JSON.parse(await say(file, `${text}\n`))).toMatchObject({
      ok: false,
      error: telling('"issue"', 500),
      failure: { code: 'command_refused', details: { field: 'issue' } },
    });
    expect(asked).toBe(0);
  });

  it('tells why an explanation cannot be given, with the code, and goes on', async () => {
    const { file, logger } = await open(async (issue) => {
      if (issue === 'defect') throw new TypeError('x is not a function');
      throw new BatonError('tracker_issue_not_found', `There is no issue "${issue}".`);
    });
    expect(await askDaemon(file, { explain: 'BAT-9' }, systemClock)).toMatchObject({
      ok: false,
      error: 'There is no issue "BAT-9".',
      failure: { code: 'tracker_issue_not_found', next_step: expect.any(String), retryable: false },
    });
    expect(logger.lines).toEqual([]);
    expect(await askDaemon(file, { explain: 'defect' }, systemClock)).toMatchObject({
      failure: { code: 'internal_error' },
    });
    expect(logger.lines).toMatchObject([{ level: 'error' }]);
    expect(await askDaemon(file, 'status', systemClock)).toMatchObject({ ok: true });
  });

  it('gives up on an explanation that takes too long, with a code', async () => {
    const clock = new SimulatedClock();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    const { file } = await open(() => {
      resolve();
      return new Promise(() => {});
    }, clock);
    const answer = say(file, '{"ask":"explain","issue":"BAT-1"}\n');
    await asked;
    await clock.advance(15_000);
    expect(JSON.parse(await answer)).toMatchObject({
      ok: false,
      failure: { code: 'tracker_request', retryable: true },
    });
  });

  it('answers who has closed his side after asking, and sends him away who closes it without', async () => {
    const { promise: allowed, resolve } = Promise.withResolvers<void>();
    const { file } = await open(async () => {
      await allowed;
      return 'late';
    });
    const late = sayAndClose(file, '{"ask":"explain","issue":"BAT-1"}\n');
    expect(await sayAndClose(file, '')).toBe('');
    resolve();
    expect(JSON.parse(await late)).toEqual({ ok: true, explanation: 'late' });
  });

  it('is not upset by who leaves before the answer', async () => {
    const { promise: allowed, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    const { file } = await open(async () => {
      isAsked();
      await allowed;
      return 'late';
    });
    const visitor = createConnection(file, () => visitor.write('{"ask":"explain","issue":"BAT-1"}\n'));
    await asked;
    visitor.destroy();
    resolve();
    expect(await askDaemon(file, 'status', systemClock)).toMatchObject({ ok: true });
  });

  it('sends a visitor away who takes his answer and stays', async () => {
    const clock = new SimulatedClock();
    const { file } = await open(undefined, clock);
    const visitor = createConnection({ path: file, allowHalfOpen: true });
    const closed = new Promise<void>((resolve) => visitor.on('close', () => resolve()));
    visitor.on('error', () => {});
    visitor.write('{"ask":"status"}\n');
    await new Promise<void>((resolve) => visitor.once('data', () => resolve()));
    await clock.advance(5_000);
    // The daemon's end is gone: a write finds nobody.
    visitor.write('more');
    visitor.write('and more');
    await closed;
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
    const answers = { wake: () => {}, reload: () => {}, status: () => null, explain: async () => null };
    const opening = LocalSocket.open({
      path: '/nowhere/baton.sock',
      answers,
      clock: systemClock,
      logger: memoryLogger(),
    });
    await expect(opening).rejects.toMatchObject({ code: 'local_socket_failed' });
  });
});
