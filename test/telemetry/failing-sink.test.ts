import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/telemetry/create-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { logPath, readLines, ScratchStream, scratchFolder } from './scratch-log.ts';

const failed = 'log_sink_failed';
const lost = 'log_lines_lost';
const retryAfterMs = 10_000;

describe('a failing file', () => {
  it.each<[string, string, (logsRoot: string) => () => void]>([
    ['a file stands where the folder should be', 'EEXIST', fileForFolder],
    ['a folder stands where the file should be', 'EISDIR', folderForFile],
    ['the disk is full', 'ENOSPC', fullDisk],
  ])('is reported once, skipped, tried again, and reports the lost lines: %s', async (_name, code, spoil) => {
    const logsRoot = scratchFolder();
    const mend = spoil(logsRoot);
    const { logger, stream, clock } = bothSinks(logsRoot);
    for (const number of [1, 2, 3]) logger.info('tick_failed', { number });
    await clock.advance(retryAfterMs);
    logger.info('tick_failed', { number: 4 });
    const told = stream.lines().filter(({ event }) => event !== 'tick_failed');
    expect(told).toMatchObject([{ level: 'warn', event: failed, sink: 'file', error: { code } }]);
    expect(stream.lines().filter(({ event }) => event === 'tick_failed')).toHaveLength(4);

    mend();
    logger.info('tick_failed', { number: 5 });
    await clock.advance(retryAfterMs);
    logger.info('tick_failed', { number: 6 });
    logger.info('tick_failed', { number: 7 });
    expect(readLines(logPath(logsRoot))).toMatchObject([
      { event: lost, level: 'warn', sink: 'file', lost_lines: 5 },
      { event: 'tick_failed', number: 6 },
      { event: 'tick_failed', number: 7 },
    ]);
  });

  it('is reported again when it fails again', async () => {
    const logsRoot = scratchFolder();
    const { logger, stream, clock } = bothSinks(logsRoot);
    for (let round = 0; round < 2; round++) {
      const mend = fileForFolder(logsRoot);
      logger.info('tick_failed');
      mend();
      await clock.advance(retryAfterMs);
      logger.info('run_started');
      fs.rmSync(path.join(logsRoot, 'log'), { recursive: true });
    }
    expect(stream.lines().filter(({ event }) => event === failed)).toHaveLength(2);
  });

  it('reports the lost lines at close when nothing more was logged', async () => {
    const logsRoot = scratchFolder();
    const mend = fileForFolder(logsRoot);
    const { logger, close } = bothSinks(logsRoot);
    logger.info('tick_failed');
    mend();
    await close();
    expect(readLines(logPath(logsRoot))).toMatchObject([{ event: lost, lost_lines: 1 }]);
  });
});

describe('a failing terminal', () => {
  it('is reported once in the file, causes no unhandled error, and reports the lost lines', async () => {
    const logsRoot = scratchFolder();
    const { logger, stream, clock } = bothSinks(logsRoot);
    stream.failure = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    for (const number of [1, 2, 3]) logger.info('tick_failed', { number });
    await clock.advance(retryAfterMs);
    logger.info('tick_failed', { number: 4 });
    await clock.advance(retryAfterMs);
    stream.failure = null;
    logger.info('tick_failed', { number: 5 });
    await clock.settle();
    const told = readLines(logPath(logsRoot)).filter(({ event }) => event !== 'tick_failed');
    expect(told).toMatchObject([{ event: failed, sink: 'terminal', error: { code: 'EPIPE' } }]);
    expect(stream.lines()).toMatchObject([
      { event: lost, sink: 'terminal', lost_lines: 4 },
      { event: 'tick_failed', number: 5 },
    ]);
  });

  it('does not fill the memory when no one reads', () => {
    const logsRoot = scratchFolder();
    const { logger, stream } = bothSinks(logsRoot);
    stream.isStalled = true;
    for (let number = 0; number < 1_000; number++) logger.info('tick_failed', { text: 'x'.repeat(8_000) });
    expect(stream.writableLength).toBeLessThan(2 * 1024 * 1024);
    const told = readLines(logPath(logsRoot)).filter(({ event }) => event === failed);
    expect(told).toMatchObject([{ sink: 'terminal', error: { code: 'ENOBUFS' } }]);
  });

  it('does not end a process whose stderr is closed', async () => {
    const logsRoot = scratchFolder();
    const [logger, clock] = ['telemetry/create-logger.ts', 'clock/system-clock.ts'].map((file) =>
      new URL(`../../src/${file}`, import.meta.url).toString(),
    );
    const program = `
      import { once } from 'node:events';
      import { createLogger } from '${logger}';
      import { systemClock } from '${clock}';
      const { logger, close } = createLogger({
        clock: systemClock, file: { logsRoot: process.env.ROOT }, terminal: { stream: process.stderr },
      });
      process.stdout.write('ready');
      await once(process.stdin, 'data');
      logger.info('tick_failed');
      await new Promise((resolve) => systemClock.schedule(0, resolve));
      logger.info('run_started');
      await close();
      process.exit(7);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      env: { ...process.env, ROOT: logsRoot },
    });
    await once(child.stdout, 'data');
    child.stderr.destroy();
    await once(child.stderr, 'close');
    child.stdin.write('go');
    expect(await once(child, 'exit')).toEqual([7, null]);
    expect(readLines(logPath(logsRoot)).map(({ event }) => event)).toEqual(['tick_failed', failed, 'run_started']);
  });
});

describe('both sinks failing', () => {
  // @conforms spec-13.2
  it('do not throw, and both report the lost lines in the end', async () => {
    const logsRoot = scratchFolder();
    const mend = fileForFolder(logsRoot);
    const { logger, stream, clock } = bothSinks(logsRoot);
    stream.failure = new Error('gone');
    logger.error('tick_failed');
    await clock.advance(retryAfterMs);
    mend();
    stream.failure = null;
    logger.error('transcript_recovered');
    await clock.settle();
    // The announcements count: each was a line that its sink did not get.
    expect(readLines(logPath(logsRoot))).toMatchObject([
      { event: lost, lost_lines: 2 },
      { event: 'transcript_recovered' },
    ]);
    expect(stream.lines()).toMatchObject([{ event: lost, lost_lines: 2 }, { event: 'transcript_recovered' }]);
  });
});

function bothSinks(logsRoot: string) {
  const stream = new ScratchStream({ isTTY: false });
  const clock = new SimulatedClock();
  return { ...createLogger({ clock, file: { logsRoot }, terminal: { stream }, retryAfterMs }), stream, clock };
}

// Each spoils the place of the log and returns what mends it. Permissions would not do: root may write everywhere.

function fileForFolder(logsRoot: string): () => void {
  const place = path.join(logsRoot, 'log');
  fs.writeFileSync(place, '');
  return () => fs.rmSync(place);
}

function folderForFile(logsRoot: string): () => void {
  fs.mkdirSync(logPath(logsRoot), { recursive: true });
  return () => fs.rmdirSync(logPath(logsRoot));
}

function fullDisk(logsRoot: string): () => void {
  fs.mkdirSync(path.join(logsRoot, 'log'));
  fs.symlinkSync('/dev/full', logPath(logsRoot));
  return () => fs.rmSync(logPath(logsRoot));
}
