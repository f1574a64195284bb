import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { logEvents } from '../../src/core/log-events.ts';
import { createLogger } from '../../src/telemetry/create-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { ScratchStream } from './scratch-log.ts';

const time = '2026-01-01T00:00:00.000Z';

describe('the terminal sink', () => {
  it('shows time, level, message and key=value on a TTY', () => {
    const { logger, stream } = terminal({ color: false });
    logger.info('run_started', {
      issue_identifier: 'ABC-1',
      attempt: 2,
      reason: 'it is time',
      list: [1],
    });
    logger.warn('job_failed', { empty: '', missing: null, nested: { a: { b: 'c' } } });
    expect(stream.text).toBe(
      `${time} INFO  ${logEvents.run_started} issue_identifier=ABC-1 attempt=2 reason="it is time" list=[1]\n` +
        `${time} WARN  ${logEvents.job_failed} empty="" missing=null nested.a.b=c\n`,
    );
  });

  it('uses colours only on a TTY, and not with NO_COLOR', () => {
    const colored = terminal({ color: true });
    colored.logger.error('tick_failed', { key: 'value' });
    expect(colored.stream.text).toContain('\u001b[31mERROR\u001b[0m');
    const plain = terminal({ color: false });
    plain.logger.error('tick_failed', { key: 'value' });
    expect(plain.stream.text).toBe(`${time} ERROR ${logEvents.tick_failed} key=value\n`);
  });

  it('writes JSON lines when stderr is not a terminal', () => {
    const { logger, stream } = terminal({ color: true, isTTY: false });
    logger.info('tick_failed', { key: 'value' });
    expect(stream.lines()).toMatchObject([{ level: 'info', time, key: 'value', event: 'tick_failed' }]);
  });

  it('escapes control characters and terminal escapes, in values and keys', () => {
    const evil = '\u001b]0;title\u0007\u001b[2J\r\n\u009b31m\u202e\u0000\u007f';
    const { logger, stream } = terminal({ color: false });
    logger.error('tick_failed', { value: evil, [`key${evil}`]: 1, nested: [{ evil }], error: withStack(evil) });
    expect(stream.text.replaceAll('\n', '')).toMatch(/^[\u0020-\u007e]+$/);
    expect(stream.text).toContain('\\u001b[2J');
  });

  it('shows an error with its next step on the line and its stack below', () => {
    const { logger, stream } = terminal({ color: false });
    logger.error('tick_failed', { error: new BatonError('internal_error', 'it broke', { nextStep: 'Look.' }) });
    const [line, first, second] = stream.text.split('\n');
    expect(line).toBe(
      `${time} ERROR ${logEvents.tick_failed} error.code=internal_error error.message="it broke" error.next_step=Look. error.retryable=false`,
    );
    expect(first).toBe('    BatonError: it broke');
    expect(second).toMatch(/^ {4}at .*log-terminal\.test\.ts/);
  });
});

function terminal({ color, isTTY = true }: { color: boolean; isTTY?: boolean }) {
  const stream = new ScratchStream({ isTTY });
  const { logger } = createLogger({ clock: new SimulatedClock(), file: null, terminal: { stream, color } });
  return { logger, stream };
}

function withStack(stack: string): Error {
  return Object.assign(new Error('x'), { stack });
}
