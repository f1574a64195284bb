import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type Clock, within } from '../../clock/clock.ts';

export interface StderrTail {
  /** The last bytes of the error output so far, as text. */
  read(): string;
  /** Resolves when everything was read, or after `waitMs` while a process still has the pipe open; then closes it. */
  finish(waitMs: number): Promise<void>;
}

/** Reads a child's error output as fast as it comes, so that the child never waits for us, and keeps only its end. */
export function keepStderrTail(
  stream: Readable,
  options: { readonly clock: Clock; readonly maxBytes: number; readonly onText?: ((text: string) => void) | undefined },
): StderrTail {
  let tail = Buffer.alloc(0);
  const decoder = new StringDecoder('utf8');
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  stream.on('error', () => {}); // A broken pipe is the end of the output, which 'close' tells.
  stream.on('data', (chunk: Buffer) => {
    const joined = chunk.length < options.maxBytes ? Buffer.concat([tail, chunk]) : chunk;
    // Copied, so that sixteen kilobytes do not keep a larger chunk alive.
    tail = Buffer.from(joined.subarray(-options.maxBytes));
    options.onText?.(decoder.write(chunk));
  });
  return {
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
