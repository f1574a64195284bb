import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { type Clock, type Timer, within } from '../../clock/clock.ts';
import type { Output } from '../../daemon/surroundings.ts';

/** A terminal without room is tried again so soon, and less often the longer it has none. */
const firstRetryMs = 10;
const longestRetryMs = 250;

/** How long the end waits for a terminal that takes nothing. */
const closeLimitMs = 1_000;

/** Its stream takes everything at once; `writableLength` is what the terminal has not taken yet. */
export interface TerminalWriter extends AsyncDisposable {
  readonly stream: Writable & { readonly isTTY: true };
}

/**
 * Writes to a terminal and never waits for it. Node writes to one with a call that returns when all was taken: where
 * nothing reads any more (an ssh client that sleeps, Ctrl-S) it stops the whole process, and a daemon hears no signal
 * then. So the terminal is opened once more, for us alone, such that a call takes what there is room for and returns.
 * The rest is kept in order and tried again. What must hold: no call waits, and `dispose` gives up after a while, with
 * nothing of it left.
 *
 * It is for the frames of the view and the lines of the log alike, which a process of its own for the view would not be;
 * a thread that waits in a write would keep the process from ending.
 *
 * Null for what is no terminal, and for one that cannot be opened again.
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
  // The writer gets the error by its own callback.
  stream.on('error', () => {});
  return {
    stream: Object.assign(stream, { isTTY: true as const }),
    [Symbol.asyncDispose]: async () => {
      await within(clock, closeLimitMs, new Promise<void>((resolve) => void stream.end(() => resolve())));
      stream.destroy();
    },
  };
}

/** By its descriptor where the system has names for those; else it is the one that the process was started on. */
function openAgain(fd: number | undefined): number | null {
  if (fd === undefined) return null;
  // Not `/dev/fd`, which on some systems is the same opening again.
  for (const name of [`/proc/self/fd/${fd}`, '/dev/tty']) {
    try {
      return openSync(name, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // There is no such name here, or the terminal is another user's (`su`) and has to be opened by the other.
    }
  }
  return null;
}

/** As much as there is room for, which may be nothing. */
function writeNow(fd: number, chunk: Buffer): { readonly taken: number; readonly error: Error | null } {
  try {
    return { taken: writeSync(fd, chunk), error: null };
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    return { taken: 0, error: 'code' in error && error.code === 'EAGAIN' ? null : error };
  }
}
