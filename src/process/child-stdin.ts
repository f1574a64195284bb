import type { Writable } from 'node:stream';
import { BatonError } from '../core/baton-error.ts';

export interface ChildStdin {
  write(text: string | Uint8Array, signal?: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * A child's standard input. A child may close it or die at any time; `write` then rejects, and no error goes uncaught.
 * At the exit of the child Node destroys the stream, which settles every pending write.
 */
export function childStdin(stream: Writable | null, program: string): ChildStdin {
  // Each failed write rejects for its own caller. Without a listener the `error` event would end the daemon.
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
      // A caller that no longer waits must not end the daemon with an unhandled rejection.
      written.catch(() => {});
      return written;
    },
    close: () => void stream?.end(),
  };
}

function stdinClosed(program: string, cause?: unknown): BatonError {
  return new BatonError('process_stdin_closed', `${program} has closed its standard input or has exited.`, {
    cause,
    details: { program },
  });
}
