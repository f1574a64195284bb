import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { logEvents } from '../../src/core/log-events.ts';
import { createLogger } from '../../src/telemetry/create-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { logPath, readLines, ScratchStream, scratchFolder } from './scratch-log.ts';

describe('createLogger', () => {
  // @conforms spec-13.1
  it('writes one JSON line for each event: time, level, code, fields, sentence of the catalogue', async () => {
    const { logger, logsRoot, clock } = fileOnly();
    logger.info('run_started', { issue_id: '1', issue_identifier: 'ABC-1' });
    await clock.advance(1_500);
    logger.warn('job_failed');
    expect(readLines(logPath(logsRoot))).toEqual([
      {
        level: 'info',
        time: '2026-01-01T00:00:00.000Z',
        event: 'run_started',
        issue_id: '1',
        issue_identifier: 'ABC-1',
        msg: logEvents.run_started,
      },
      { level: 'warn', time: '2026-01-01T00:00:01.500Z', event: 'job_failed', msg: logEvents.job_failed },
    ]);
  });

  it('puts the fields of a child on every line, once, and a call may replace them', () => {
    const { logger, logsRoot, text } = fileOnly();
    const child = logger.child({ issue_id: '1', issue_identifier: 'ABC-1' }).child({ run_id: 'r1', session_id: 's1' });
    child.info('run_recorded');
    child.info('run_started', { session_id: 's2' });
    logger.info('run_stopped');
    const bound = { issue_id: '1', issue_identifier: 'ABC-1', run_id: 'r1' };
    expect(readLines(logPath(logsRoot))).toMatchObject([
      { ...bound, session_id: 's1' },
      { ...bound, session_id: 's2' },
      {},
    ]);
    expect(
      text()
        .split('\n')[1]
        ?.match(/"session_id"/g),
    ).toHaveLength(1);
    expect(readLines(logPath(logsRoot))[2]).not.toHaveProperty('issue_id');
  });

  it('keeps time, level, code and message apart from fields of those names', () => {
    const { logger, logsRoot } = fileOnly();
    logger.info('tick_failed', { level: 'high', time: 1, event: 'y', msg: 'x' });
    expect(readLines(logPath(logsRoot))).toEqual([
      expect.objectContaining({
        level: 'info',
        event: 'tick_failed',
        level_: 'high',
        time_: 1,
        event_: 'y',
        msg_: 'x',
      }),
    ]);
  });

  it('gives each sink its own level', () => {
    const stream = new ScratchStream({ isTTY: false });
    const logsRoot = scratchFolder();
    const { logger } = createLogger({
      clock: new SimulatedClock(),
      file: { logsRoot, level: 'info' },
      terminal: { stream, level: 'error' },
    });
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]('tick_failed');
    expect(readLines(logPath(logsRoot)).map(({ level }) => level)).toEqual(['info', 'warn', 'error']);
    expect(stream.lines().map(({ level }) => level)).toEqual(['error']);
  });

  it('writes everything to the file, and info and above to the terminal, by default', () => {
    const stream = new ScratchStream({ isTTY: false });
    const logsRoot = scratchFolder();
    const { logger } = createLogger({ clock: new SimulatedClock(), file: { logsRoot }, terminal: { stream } });
    logger.debug('run_recorded');
    logger.info('run_started');
    expect(readLines(logPath(logsRoot))).toHaveLength(2);
    expect(stream.lines()).toMatchObject([{ level: 'info', event: 'run_started' }]);
  });

  it('is quiet without sinks', async () => {
    const { logger, close } = createLogger({ clock: new SimulatedClock(), file: null, terminal: null });
    logger.error('tick_failed');
    await close();
  });

  it('writes a line after close, and can be closed twice', async () => {
    const { logger, logsRoot, close } = fileOnly();
    logger.info('baton_starting');
    await close();
    await close();
    logger.info('baton_stopped');
    await close();
    expect(readLines(logPath(logsRoot)).map(({ event }) => event)).toEqual(['baton_starting', 'baton_stopped']);
  });
});

function fileOnly() {
  const logsRoot = scratchFolder();
  const clock = new SimulatedClock();
  const created = createLogger({ clock, file: { logsRoot }, terminal: null });
  return { ...created, logsRoot, clock, text: () => fs.readFileSync(logPath(logsRoot), 'utf8') };
}
