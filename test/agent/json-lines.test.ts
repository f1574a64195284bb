import { expect, it } from 'vitest';
import { JsonLines } from '../../src/agent/wire/json-lines.ts';
import type { BatonError } from '../../src/core/baton-error.ts';
import type { LiveProcess } from '../../src/process/containment/live-process.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

/** The connection to a program that has exited, with this error output. */
function exited(stderr: Pick<LiveProcess, 'stderrTail' | 'stderrClosed'>) {
  const process: LiveProcess = {
    pid: 1,
    startTime: null,
    lines: [][Symbol.iterator]() as never, // Any iterator does.
    exited: Promise.resolve({ code: 3, signal: null }),
    write: async () => {},
    closeStdin: () => {},
    stop: async () => ({ how: 'already_exited', survivorsEnded: 0, survivorsLeft: 0 }),
    ...stderr,
  };
  const ends: BatonError[] = [];
  const clock = new SimulatedClock();
  const lines = new JsonLines({
    name: 'It',
    process,
    clock,
    onLine: () => {},
    onEnd: (error) => ends.push(error),
  });
  return { lines, ends, clock };
}

it('a connection ends with its program at once when there is no error output', async () => {
  const { lines, ends } = exited({ stderrTail: () => '', stderrClosed: Promise.resolve() });
  await lines.reading;
  expect(ends).toMatchObject([{ code: 'agent_exited', details: { exit_code: 3, stderr: '' } }]);
});

it('a connection waits for error output that comes after the exit, but not for ever', async () => {
  let stderr = '';
  const closed = Promise.withResolvers<void>();
  const late = exited({ stderrTail: () => stderr, stderrClosed: closed.promise });
  stderr = 'last words';
  closed.resolve();
  await late.lines.reading;
  expect(late.ends).toMatchObject([{ details: { stderr: 'last words' } }]);
  const open = exited({ stderrTail: () => '', stderrClosed: new Promise(() => {}) });
  await open.clock.advance(1_000);
  await open.lines.reading;
  expect(open.ends).toHaveLength(1);
});
