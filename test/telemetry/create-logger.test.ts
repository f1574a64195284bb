import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from '../../src/clock/simulated-clock.ts';
import { createLogger } from '../../src/telemetry/create-logger.ts';
import { logPath, readLines, ScratchStream, scratchFolder } from './scratch-log.ts';

describe('createLogger', () => {
  it('writes one JSON line an event: time of the clock, level as a word, constant message, fields', async () => {
    const { logger, logsRoot, clock } = fileOnly();
    logger.info('Dispatching issue to agent', { issue_id: '1', issue_identifier: 'ABC-1' });
    await clock.advance(1_500);
    logger.warn('100% of %s\nis literal');
    expect(readLines(logPath(logsRoot))).toEqual([
      {
        level: 'info',
        time: '2026-01-01T00:00:00.000Z',
        issue_id: '1',
        issue_identifier: 'ABC-1',
        msg: 'Dispatching issue to agent',
      },
      { level: 'warn', time: '2026-01-01T00:00:01.500Z', msg: '100% of %s\nis literal' },
    ]);
  });

  it('puts the fields of a child on every line, once, and the call may replace them', () => {
    const { logger, logsRoot, text } = fileOnly();
    const child = logger.child({ issue_id: '1', issue_identifier: 'ABC-1' }).child({ run_id: 'r1', session_id: 's1' });
    child.info('a');
    child.info('b', { session_id: 's2' });
    logger.info('c');
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

  it('keeps its own time, level and message apart from fields of those names', () => {
    const { logger, logsRoot } = fileOnly();
    logger.info('m', { level: 'high', time: 1, msg: 'x' });
    expect(readLines(logPath(logsRoot))).toEqual([
      { level: 'info', time: '2026-01-01T00:00:00.000Z', msg: 'm', level_: 'high', time_: 1, msg_: 'x' },
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
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](level);
    expect(readLines(logPath(logsRoot)).map(({ msg }) => msg)).toEqual(['info', 'warn', 'error']);
    expect(stream.lines().map(({ msg }) => msg)).toEqual(['error']);
  });

  it('takes everything into the file and from info on to the terminal unless told otherwise', () => {
    const stream = new ScratchStream({ isTTY: false });
    const logsRoot = scratchFolder();
    const { logger } = createLogger({ clock: new SimulatedClock(), file: { logsRoot }, terminal: { stream } });
    logger.debug('debug');
    logger.info('info');
    expect(readLines(logPath(logsRoot))).toHaveLength(2);
    expect(stream.lines()).toEqual([{ level: 'info', time: '2026-01-01T00:00:00.000Z', msg: 'info' }]);
  });

  it('is quiet without sinks', async () => {
    const { logger, close } = createLogger({ clock: new SimulatedClock(), file: null, terminal: null });
    logger.error('nobody hears this');
    await close();
  });

  it('writes a line that comes after close, and closes twice', async () => {
    const { logger, logsRoot, close } = fileOnly();
    logger.info('before');
    await close();
    await close();
    logger.info('after');
    await close();
    expect(readLines(logPath(logsRoot)).map(({ msg }) => msg)).toEqual(['before', 'after']);
  });
});

function fileOnly() {
  const logsRoot = scratchFolder();
  const clock = new SimulatedClock();
  const created = createLogger({ clock, file: { logsRoot }, terminal: null });
  return { ...created, logsRoot, clock, text: () => fs.readFileSync(logPath(logsRoot), 'utf8') };
}
