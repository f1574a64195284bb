import { type Clock, within } from '../clock/clock.ts';
import type { LogSink } from './guarded-sink.ts';
import { terminalLine } from './terminal-line.ts';

/** The part of `process.stderr` that the log needs. */
export interface TerminalStream {
  readonly isTTY?: boolean | undefined;
  readonly writableLength: number;
  write(text: string, done: (error?: Error | null) => void): boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface LogTerminalOptions {
  readonly clock: Clock;
  readonly stream: TerminalStream;
  readonly color?: boolean;
}

/** With this much unread, the reader has stopped reading; more would only fill the memory. */
const maxUnreadBytes = 1024 * 1024;

/** Has the code of a system error, like a failed write. */
const unread = (): Error => Object.assign(new Error('no one reads the stream'), { code: 'ENOBUFS' });

/** How long `close` waits for a slow reader. */
const closeLimitMs = 1_000;

/** The sink on stderr. */
export function openLogTerminal({ clock, stream, color = true }: LogTerminalOptions): LogSink {
  const isReadable = stream.isTTY === true;
  // The callback of each write reports its failure; without a listener the event would end the process. The listener stays,
  // because a late failure may come after `close`.
  stream.on('error', () => {});
  return {
    name: 'terminal',
    write(line, done) {
      if (stream.writableLength > maxUnreadBytes) return done(unread());
      try {
        stream.write(isReadable ? terminalLine(line, color) : line, (error) => done(error ?? null));
      } catch (error) {
        done(error);
      }
    },
    async close() {
      if (stream.writableLength === 0) return;
      await within(clock, closeLimitMs, new Promise<void>((resolve) => void stream.write('', () => resolve())));
    },
  };
}
