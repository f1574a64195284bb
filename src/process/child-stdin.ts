import type { Writable } from 'node:stream';
import { BatonError } from '../core/baton-error.ts';

export interface ChildStdin {
  write(text: string | Uint8Array, signal?: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * A child's standard input. A child may close it or die at any moment; that is an answer to `write`, never an
 * uncaught error. At the exit of the child Node destroys the stream, which settles every write that still waits.
 */
export function childStdin(stream: Writable | null, program: string): ChildStdin {
  // Every failed write rejects for its own caller; an unhandled `error` event would also end the daemon.
  stream?.on('error', () => {});
  return {
    write(text, signal) {
      const written = new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (stream === null) return reject(stdinClosed(program));
        const onAbort = (): void => reject(signal?.reason);
        signal?.addEventListener('abort', onAbort, { once: true });
        stream.write(text, (error) => {
          signal?.removeEventListener('abort', onAbort);
          if (error) reject(stdinClosed(program, error));
          else resolve();
        });
      });
      // The awaiting caller sees the error; a caller that has gone away must not end the daemon.
      written.catch(() => {});
      return written;
    },
    close: () => void stream?.end(),
  };
}

function stdinClosed(program: string, cause?: unknown): BatonError {
  return new BatonError('process_stdin_closed', `${program} does not take input any more.`, {
    cause,
    details: { program },
  });
}
