import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openTerminalWriter } from '../../../src/cli/top/terminal-writer.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createLogger } from '../../../src/telemetry/create-logger.ts';
import { until } from '../../process/real-children.ts';
import { leaveNoPlaces, Place } from '../run-baton.ts';

leaveNoPlaces();

/** A pipe in the place of a terminal: it has as little room, and is as real. Real terminals are in `start-terminal.test.ts`. */
class Pipe implements Disposable {
  readonly #place = new Place();
  readonly fd: number;
  readonly isTTY = true;

  constructor() {
    const file = `${this.#place.folder}/pipe`;
    execFileSync('mkfifo', [file]);
    this.fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
  }

  /** What is in it now. */
  read(): string {
    const room = Buffer.alloc(1 << 20);
    try {
      return room.toString('latin1', 0, readSync(this.fd, room));
    } catch {
      return '';
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    this.#place[Symbol.dispose]();
  }
}

/** More than fits into it. */
const much = Array.from({ length: 30_000 }, (_, at) => `line ${at}\n`);

function opened(pipe: Pipe) {
  const writer = openTerminalWriter(pipe, systemClock);
  if (writer === null) throw new Error('it was not opened');
  return writer;
}

describe('the terminal writer', () => {
  it('buffers text that does not fit, and neither loses nor mixes any', async () => {
    using pipe = new Pipe();
    await using writer = opened(pipe);
    for (const line of much) writer.stream.write(line);
    expect(writer.stream.writableLength).toBeGreaterThan(100_000);
    let got = '';
    await until(() => {
      got += pipe.read();
      return writer.stream.writableLength === 0;
    }, 'all was taken');
    expect(got + pipe.read()).toBe(much.join(''));
  });

  it('gives up soon at the end when the terminal is not read, and releases everything', async () => {
    using pipe = new Pipe();
    const before = performance.now();
    {
      await using writer = opened(pipe);
      for (const line of much) writer.stream.write(line);
    }
    expect(performance.now() - before).toBeLessThan(5_000);
    pipe.read();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(pipe.read()).toBe('');
  });

  // @conforms top.5
  it('lets the log drop and count unread lines', async () => {
    using pipe = new Pipe();
    await using writer = opened(pipe);
    const { logger, close } = createLogger({
      clock: systemClock,
      file: null,
      terminal: { stream: writer.stream, color: false },
      retryAfterMs: 0,
    });
    const before = performance.now();
    for (let at = 0; at < 3_000; at += 1) logger.info('agent_progress', { said: `${at} ${'x'.repeat(1_000)}` });
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(writer.stream.writableLength).toBeLessThan(1_200_000);
    let got = '';
    await until(() => {
      got += pipe.read();
      return writer.stream.writableLength === 0;
    }, 'all was taken');
    // One line about what was lost, and this one.
    const lines = got.split('\n').length;
    logger.info('transcript_recovered');
    got += pipe.read();
    expect(got.split('\n').length).toBe(lines + 2);
    const lost = Number(/lost_lines=(\d+)/.exec(got)?.[1]);
    expect([...got.matchAll(/said="\d+ x/g)].length + lost).toBe(3_000);
    await close();
  });

  it('is absent without a terminal', () => {
    expect(openTerminalWriter({ isTTY: false, fd: 1 }, systemClock)).toBeNull();
    expect(openTerminalWriter({ isTTY: true }, systemClock)).toBeNull();
  });
});
