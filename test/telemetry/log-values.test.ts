import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { LogFields } from '../../src/core/logger.ts';
import { Secret } from '../../src/core/text/secret.ts';
import { createLogger } from '../../src/telemetry/create-logger.ts';
import type { LogLevel } from '../../src/telemetry/log-level.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { telling } from '../telling.ts';
import { logPath, type ReadLine, readLines, scratchFolder } from './scratch-log.ts';

describe('an error as a field', () => {
  it('has its code, message, next step, details and causes', () => {
    const cause = new TypeError('fetch failed', {
      cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
    });
    const error = new BatonError('tracker_request', 'the tracker did not answer', {
      cause,
      nextStep: 'Wait.',
      details: { url: 'x' },
    });
    expect(logged({ error }).error).toEqual({
      code: 'tracker_request',
      message: 'the tracker did not answer',
      next_step: 'Wait.',
      retryable: true,
      details: { url: 'x' },
      cause: { code: 'TypeError', message: 'fetch failed', cause: { code: 'ECONNREFUSED', message: 'refused' } },
    });
  });

  it.each([
    ['debug', true],
    ['info', false],
    ['warn', false],
    ['error', true],
  ] as const)('at %s has a stack: %s', (level, hasStack) => {
    const { error } = logged({ error: new Error('x', { cause: new Error('y') }) }, level);
    expect('stack' in error).toBe(hasStack);
    expect('stack' in error.cause).toBe(hasStack);
    if (hasStack) expect(error.stack).toContain('log-values.test.ts');
  });

  it('ends a chain of causes that is long or circular', () => {
    const circle = new Error('circle');
    circle.cause = circle;
    expect(logged({ error: circle }).error.cause).toBe('[circular]');
    const long = Array.from({ length: 50 }).reduce((cause: unknown) => new Error('link', { cause }), undefined);
    expect(JSON.stringify(logged({ error: long })).match(/link/g)?.length).toBeLessThan(10);
  });

  it('shows the parts of an aggregate', () => {
    const error = new AggregateError([new Error('ipv4'), new Error('ipv6')], '');
    expect(logged({ error }).error.errors).toMatchObject([{ message: 'ipv4' }, { message: 'ipv6' }]);
  });

  it('may be any thrown value', () => {
    expect(logged({ error: 'just text' }).error).toBe('just text');
  });
});

describe('a secret', () => {
  it('prints as [secret] everywhere', () => {
    const token = new Secret('hunter2');
    const root = scratchFolder();
    const { logger } = createLogger({ clock: new SimulatedClock(), file: { logsRoot: root }, terminal: null });
    logger.child({ bound: token }).error('tick_failed', {
      token,
      list: [token],
      map: new Map([['k', token]]),
      set: new Set([token]),
      error: new BatonError('internal_error', 'm', { details: { token }, cause: { token } }),
    });
    const text = fs.readFileSync(logPath(root), 'utf8');
    expect(text).not.toContain('hunter2');
    expect(text.match(/\[secret\]/g)).toHaveLength(7);
  });
});

describe('a value that is hard to print', () => {
  const circle: Record<string, unknown> = { name: 'circle' };
  circle.self = circle;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const throwing = {
    fine: 1,
    get bad(): never {
      throw new Error('getter');
    },
  };

  it.each<[string, unknown, unknown]>([
    ['a cycle', circle, { name: 'circle', self: '[circular]' }],
    ['a BigInt', 12345678901234567890n, '12345678901234567890'],
    ['a throwing getter', throwing, { fine: 1, bad: '[unreadable]' }],
    ['a throwing toJSON', { toJSON: () => JSON.parse('{') }, '[unreadable]'],
    ['a revoked proxy', revoked.proxy, '[unreadable]'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a function', function act() {}, '[function act]'],
    ['not a number', Number.NaN, 'NaN'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a date that is none', new Date(Number.NaN), null],
    ['bytes', Buffer.from('abc'), '[3 bytes]'],
    ['a map', new Map([['a', 1]]), { a: 1 }],
    ['a lone surrogate', '\ud800', '\ufffd'],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ])('%s does not throw', (_name, value, shown) => {
    expect(logged({ value }).value).toEqual(shown);
  });

  it('may even be the fields themselves', () => {
    expect(logged(revoked.proxy as LogFields)).toMatchObject({ event: 'tick_failed', fields: '[unreadable]' });
    expect(logged(circle)).toMatchObject({ name: 'circle', self: '[circular]' });
  });

  it('that occurs twice is not a cycle', () => {
    const shared = { a: 1 };
    expect(logged({ left: shared, right: shared })).toMatchObject({ left: { a: 1 }, right: { a: 1 } });
  });

  it('is cut when it is long, wide or deep', () => {
    const deep = JSON.parse('['.repeat(1_000) + ']'.repeat(1_000));
    const line = logged({ text: 'x'.repeat(1_000_000), list: Array.from({ length: 10_000 }, () => 1), deep });
    expect(JSON.stringify(line).length).toBeLessThan(20_000);
    const kept = /^x*/.exec(line.text)?.[0].length ?? 0;
    expect(line.text.slice(kept)).toEqual(telling(1_000_000 - kept));
    expect(line.list.at(-1)).toEqual(telling(9_900));
  });

  it('keeps invisible characters in the file as escapes that parse to the same text', () => {
    const root = scratchFolder();
    const { logger } = createLogger({ clock: new SimulatedClock(), file: { logsRoot: root }, terminal: null });
    const text = 'a\u009b31m\u202eb\u2028c\u007f';
    logger.info('tick_failed', { text });
    expect(readLines(logPath(root))[0]?.text).toBe(text);
    expect(fs.readFileSync(logPath(root), 'utf8')).toMatch(/^[\u0020-\u007e]+\n$/);
  });
});

function logged(fields: LogFields, level: LogLevel = 'info'): ReadLine {
  const logsRoot = scratchFolder();
  const { logger } = createLogger({ clock: new SimulatedClock(), file: { logsRoot }, terminal: null });
  logger[level]('tick_failed', fields);
  const [line] = readLines(logPath(logsRoot));
  if (line === undefined) throw new Error('nothing was logged');
  return line;
}
