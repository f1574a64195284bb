import { timedOut, within } from '../clock/clock.ts';
import type { ProcessExit } from './containment/live-process.ts';
import type { OutputChunks } from './output/output-chunks.ts';
import type { ProgramRequest } from './spawn-program.ts';
import { type ProcessDeps, startChild } from './start-child.ts';

export interface RunRequest extends ProgramRequest {
  /** Written to the program's input, which is then closed. Without it the program gets no input. */
  readonly stdin?: string | Uint8Array;
  readonly timeoutMs: number;
  /** How many bytes the result holds: the first ones of standard output, the last ones of error output. */
  readonly maxOutputBytes?: number;
  /** Ends the program as soon as it writes more than that; otherwise the rest is read and dropped. */
  readonly endsWhenTooLong?: boolean;
  /** The encoding of standard output; `latin1` keeps every byte as one character. */
  readonly outputEncoding?: 'utf8' | 'latin1';
  /** Ends the program as the timeout does; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface RunResult extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly truncated: boolean;
  readonly survivorsEnded: number;
}

const defaultMaxOutputBytes = 1024 * 1024;

/** A program that is stopped here has had all of its time. */
const stopQuickly = { closeStdinMs: 0, terminateMs: 2000 };

/**
 * Runs a short program (git, a hook) to its end, then ends everything it started. A failing exit code is a result, not
 * an error; rejects with `process_spawn_failed` when the program cannot be started.
 */
export async function runToEnd(request: RunRequest, deps: ProcessDeps): Promise<RunResult> {
  request.signal?.throwIfAborted();
  const maxBytes = request.maxOutputBytes ?? defaultMaxOutputBytes;
  const stdin = request.stdin === undefined ? 'none' : { text: request.stdin };
  const child = await startChild({ ...request, stdin, stderrTailBytes: maxBytes }, deps);
  const { promise: tooLong, resolve: onTooLong } = Promise.withResolvers<void>();
  const output = collect(child.chunks, { maxBytes, encoding: request.outputEncoding ?? 'utf8', onTooLong });
  const over = request.endsWhenTooLong === true ? Promise.race([child.exited, tooLong]) : child.exited;

  const ended = await within(deps.clock, request.timeoutMs, endedOrAborted(over, request.signal));
  const { survivorsEnded } = await child.stop(stopQuickly);
  request.signal?.throwIfAborted();
  // A program that is stuck in the kernel, even after KILL, never exits and its output never ends.
  const exit = await within(deps.clock, 0, child.exited);
  if (exit === timedOut) child.chunks.discard();
  return {
    ...(exit === timedOut ? { code: null, signal: null } : exit),
    ...(await output),
    stderr: child.stderrTail(),
    timedOut: ended === timedOut,
    survivorsEnded,
  };
}

function endedOrAborted(exited: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  if (signal === undefined) return exited;
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  // The signal may have fired while the program was being started; then there is no further event.
  if (signal.aborted) resolve();
  return Promise.race([exited, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

interface Collecting {
  readonly maxBytes: number;
  readonly encoding: 'utf8' | 'latin1';
  readonly onTooLong: () => void;
}

async function collect(
  chunks: OutputChunks,
  { maxBytes, encoding, onTooLong }: Collecting,
): Promise<{ stdout: string; truncated: boolean }> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let truncated = false;
  for (let chunk = await chunks.next(); chunk !== null; chunk = await chunks.next()) {
    const piece = chunk.subarray(0, maxBytes - keptBytes);
    if (piece.length < chunk.length) {
      truncated = true;
      onTooLong();
    }
    if (piece.length > 0) kept.push(piece);
    keptBytes += piece.length;
  }
  return { stdout: Buffer.concat(kept, keptBytes).toString(encoding), truncated };
}
