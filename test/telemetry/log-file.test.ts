import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/telemetry/create-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { logPath, readLines, ScratchStream, scratchFolder } from './scratch-log.ts';

const modules = ['src/telemetry/create-logger.ts', 'src/clock/system-clock.ts'].map((file) =>
  new URL(`../../${file}`, import.meta.url).toString(),
);

describe('the log file', () => {
  // @conforms ref-1.16
  it('rotates when it is full and keeps the given number of files, the newest first', () => {
    const logsRoot = scratchFolder();
    const { logger } = rotating(logsRoot, { maxBytes: 300, maxFiles: 3 });
    for (let number = 1; number <= 30; number++) logger.info('tick_failed', { number });
    const files = [0, 1, 2].map((index) => logPath(logsRoot, index));
    for (const file of files) expect(fs.statSync(file).size).toBeLessThanOrEqual(300);
    const numbers = files.toReversed().flatMap((file) => readLines(file).map(({ number }) => number));
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 31 - numbers.length + index));
    expect(fs.readdirSync(path.join(logsRoot, 'log')).sort()).toEqual(['baton.log', 'baton.log.1', 'baton.log.2']);
  });

  it('writes a line that is longer than a whole file', () => {
    const logsRoot = scratchFolder();
    const { logger } = rotating(logsRoot, { maxBytes: 100, maxFiles: 2 });
    logger.info('tick_failed', { text: 'x'.repeat(200) });
    logger.info('run_started', { text: 'y'.repeat(200) });
    expect(readLines(logPath(logsRoot, 1))).toMatchObject([{ event: 'tick_failed' }]);
    expect(readLines(logPath(logsRoot))).toMatchObject([{ event: 'run_started' }]);
  });

  it('continues the file of an earlier start, and ends a line that was cut there', () => {
    const logsRoot = scratchFolder();
    fs.mkdirSync(path.join(logsRoot, 'log'));
    fs.writeFileSync(logPath(logsRoot), '{"msg":"cut o');
    rotating(logsRoot, {}).logger.info('tick_failed');
    expect(fs.readFileSync(logPath(logsRoot), 'utf8')).toMatch(/^\{"msg":"cut o\n\{.*"event":"tick_failed".*\}\n$/);
  });

  it('creates the file again when it was removed or replaced', () => {
    const logsRoot = scratchFolder();
    const { logger } = rotating(logsRoot, {});
    logger.info('run_recorded');
    fs.rmSync(path.join(logsRoot, 'log'), { recursive: true });
    logger.info('run_started');
    expect(readLines(logPath(logsRoot))).toMatchObject([{ event: 'run_started' }]);
    fs.renameSync(logPath(logsRoot), path.join(logsRoot, 'moved'));
    fs.writeFileSync(logPath(logsRoot), '');
    logger.info('run_stopped');
    expect(readLines(logPath(logsRoot))).toMatchObject([{ event: 'run_stopped' }]);
  });

  it('grows and reports it, once, on both sinks, when it cannot rotate', () => {
    const logsRoot = scratchFolder();
    const stream = new ScratchStream({ isTTY: false });
    fs.mkdirSync(path.join(logPath(logsRoot, 1), 'occupied'), { recursive: true });
    const { logger } = rotating(logsRoot, { maxBytes: 150, maxFiles: 2 }, stream);
    for (let number = 1; number <= 9; number++) logger.debug('tick_failed', { number });
    const lines = readLines(logPath(logsRoot));
    expect(lines.filter(({ event }) => event === 'tick_failed')).toHaveLength(9);
    const notices = [...lines.filter(({ event }) => event !== 'tick_failed'), ...stream.lines()];
    expect(notices.map(({ event }) => event)).toEqual(Array(2).fill('log_rotation_failed'));
    fs.rmdirSync(path.join(logPath(logsRoot, 1), 'occupied'));
    fs.rmdirSync(logPath(logsRoot, 1));
    logger.info('run_started');
    expect(readLines(logPath(logsRoot))).toMatchObject([{ event: 'run_started' }]);
  });

  it('takes over the lock of a process that died during a rotation, and respects a fresh one', () => {
    const logsRoot = scratchFolder();
    const clock = new SimulatedClock({ startAt: Date.now() });
    const file = { logsRoot, maxBytes: 150, maxFiles: 9 };
    const { logger } = createLogger({ clock, file, terminal: null });
    logger.info('tick_failed', { number: 1 });
    const lock = `${logPath(logsRoot)}.lock`;
    fs.writeFileSync(lock, '');
    for (const number of [2, 3]) logger.info('tick_failed', { number });
    expect(readLines(logPath(logsRoot))).toHaveLength(3);
    fs.utimesSync(lock, 0, 0);
    // The first of these finds and removes the lock, the second turns over.
    for (const number of [4, 5]) logger.info('tick_failed', { number });
    expect(readLines(logPath(logsRoot))).toMatchObject([{ number: 5 }]);
    expect(fs.existsSync(lock)).toBe(false);
  });

  it('loses no line when two processes append and rotate', async () => {
    const logsRoot = scratchFolder();
    const program = `
      const { logger } = createLogger({
        clock: systemClock, file: { logsRoot: process.env.ROOT, maxBytes: 2000, maxFiles: 500 }, terminal: null,
      });
      for (let number = 0; number < 1000; number++) logger.info('tick_failed', { writer: process.env.WRITER, number });
    `;
    const ends = await Promise.all(['a', 'b'].map((writer) => runProgram(program, { ROOT: logsRoot, WRITER: writer })));
    expect(ends).toEqual([
      { code: 0, signal: null, stderr: '' },
      { code: 0, signal: null, stderr: '' },
    ]);
    const files = fs.readdirSync(path.join(logsRoot, 'log')).filter((name) => !name.endsWith('.lock'));
    expect(files.length).toBeGreaterThan(5);
    const found = files.flatMap((name) => readLines(path.join(logsRoot, 'log', name)));
    expect(new Set(found.map(({ writer, number }) => `${writer}${number}`)).size).toBe(2000);
    expect(found).toHaveLength(2000);
  });

  // @conforms log.1
  it('has the last line before a crash', async () => {
    const logsRoot = scratchFolder();
    const program = `
      const { logger } = createLogger({ clock: systemClock, file: { logsRoot: process.env.ROOT }, terminal: null });
      logger.error('baton_stopped');
      process.kill(process.pid, 'SIGKILL');
    `;
    expect(await runProgram(program, { ROOT: logsRoot })).toMatchObject({ signal: 'SIGKILL' });
    expect(readLines(logPath(logsRoot))).toMatchObject([{ event: 'baton_stopped' }]);
  });
});

function rotating(logsRoot: string, sizes: { maxBytes?: number; maxFiles?: number }, stream?: ScratchStream) {
  return createLogger({
    clock: new SimulatedClock(),
    file: { logsRoot, ...sizes },
    terminal: stream === undefined ? null : { stream },
  });
}

/** Runs the text as a program that has `createLogger` and `systemClock`. */
async function runProgram(text: string, env: Record<string, string>) {
  const imports = `import { createLogger } from '${modules[0]}'; import { systemClock } from '${modules[1]}';`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', imports + text], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, stderr };
}
