import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type Clock, within } from '../../clock/clock.ts';

export interface StderrTail {
  /** The last bytes of the error output so far, as text. */
  read(): string;
  /** Resolves when all error output is read and no process has the pipe open. */
  readonly closed: Promise<void>;
  /** Waits until all error output is read, but at most `waitMs` if a process keeps the pipe open; then closes the pipe. */
  finish(waitMs: number): Promise<void>;
}

/** Reads a child's error output as it comes, so that the child never waits for Baton, and keeps only the end of it. */
export function keepStderrTail(
  stream: Readable,
  options: { readonly clock: Clock; readonly maxBytes: number; readonly onText?: ((text: string) => void) | undefined },
): StderrTail {
  let tail = Buffer.alloc(0);
  const decoder = new StringDecoder('utf8');
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  stream.on('error', () => {}); // A broken pipe ends the output; 'close' follows.
  stream.on('data', (chunk: Buffer) => {
    const joined = chunk.length < options.maxBytes ? Buffer.concat([tail, chunk]) : chunk;
    // Copied, so that the tail does not keep a larger chunk in memory.
    tail = Buffer.from(joined.subarray(-options.maxBytes));
    options.onText?.(decoder.write(chunk));
  });
  return {
    closed,
    read: () => withoutLeadingHalfCharacter(tail).toString(),
    async finish(waitMs) {
      await within(options.clock, waitMs, closed);
      stream.destroy();
    },
  };
}

function withoutLeadingHalfCharacter(bytes: Buffer): Buffer {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0b1100_0000) !== 0b1000_0000);
  return start > 0 ? bytes.subarray(start) : bytes;
}
