import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { type Clock, type Timer, within } from '../../clock/clock.ts';
import type { Output } from '../../daemon/surroundings.ts';

/** How soon a full terminal is tried again; the pause grows while it stays full. */
const firstRetryMs = 10;
const longestRetryMs = 250;

/** How long `dispose` waits for a terminal that takes nothing. */
const closeLimitMs = 1_000;

/** Its stream takes everything at once; `writableLength` is what the terminal has not taken yet. */
export interface TerminalWriter extends AsyncDisposable {
  readonly stream: Writable & { readonly isTTY: true };
}

/**
 * Writes to a terminal and never waits for it. Node writes to a terminal with a call that returns when everything was
 * taken. When nothing reads any more (an ssh client that sleeps, Ctrl-S), that call stops the whole process, and the
 * daemon receives no signals. So the terminal is opened once more, in a mode in which a call writes what fits and
 * returns. The rest is kept in order and tried again. What must hold: no call waits, and `dispose` gives up after
 * `closeLimitMs` and drops the rest.
 *
 * It serves both the frames of the view and the lines of the log, which a separate process for the view could not do; a
 * thread that waits in a write would keep the process from ending.
 *
 * Null for an output that is not a terminal, or that cannot be opened again.
 */
export function openTerminalWriter(
  output: Pick<Output, 'isTTY'> & { readonly fd?: number },
  clock: Clock,
): TerminalWriter | null {
  const fd = output.isTTY === true ? openAgain(output.fd) : null;
  if (fd === null) return null;
  let retry: Timer | null = null;
  const attempt = (chunk: Buffer, waitMs: number, done: (error?: Error | null) => void): void => {
    const { taken, error } = writeNow(fd, chunk);
    if (error !== null || taken === chunk.length) {
      done(error);
      return;
    }
    const nextMs = taken > 0 ? firstRetryMs : waitMs;
    const rest = chunk.subarray(taken);
    retry = clock.schedule(nextMs, () => attempt(rest, Math.min(longestRetryMs, nextMs * 2), done));
  };
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => attempt(chunk, firstRetryMs, done),
    destroy: (error, done) => {
      retry?.cancel();
      closeSync(fd);
      done(error);
    },
  });
  // The writer gets the error through its own callback.
  stream.on('error', () => {});
  return {
    stream: Object.assign(stream, { isTTY: true as const }),
    [Symbol.asyncDispose]: async () => {
      await within(clock, closeLimitMs, new Promise<void>((resolve) => void stream.end(() => resolve())));
      stream.destroy();
    },
  };
}

/** By its descriptor if the system has names for descriptors; else the terminal that the process was started on. */
function openAgain(fd: number | undefined): number | null {
  if (fd === undefined) return null;
  // Not `/dev/fd`, which on some systems duplicates the same open file.
  for (const name of [`/proc/self/fd/${fd}`, '/dev/tty']) {
    try {
      return openSync(name, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // The name does not exist here, or the terminal belongs to another user (`su`) and only that user may open it.
    }
  }
  return null;
}

/** Writes as much as fits, which may be nothing. */
function writeNow(fd: number, chunk: Buffer): { readonly taken: number; readonly error: Error | null } {
  try {
    return { taken: writeSync(fd, chunk), error: null };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    return { taken: 0, error: 'code' in error && error.code === 'EAGAIN' ? null : error };
  }
}
