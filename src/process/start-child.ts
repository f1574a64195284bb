import type { Clock } from '../clock/clock.ts';
import { childStdin } from './child-stdin.ts';
import type { Containment } from './containment/containment.ts';
import { endTree } from './containment/end-tree.ts';
import type { LiveProcess, ProcessExit, StopReport } from './containment/live-process.ts';
import { startTimeOf } from './containment/process-table.ts';
import { withHiddenPathHints } from './isolation/hidden-path-hints.ts';
import { OutputChunks } from './output/output-chunks.ts';
import { keepStderrTail } from './output/stderr-tail.ts';
import { type ProgramRequest, spawnProgram } from './spawn-program.ts';

/** Dependencies that vary with the machine. */
export interface ProcessDeps {
  readonly clock: Clock;
  /** The result of `probeContainment`. A program waits for one that is not known yet. */
  readonly containment: Containment | Promise<Containment>;
  /** Exported as BATON_DAEMON_ID: the same after each restart, and different for every daemon. */
  readonly daemonId: string;
}

export interface ChildRequest extends ProgramRequest {
  /** `none` is an input that is closed from the start. A text is written, then the input is closed. */
  readonly stdin: 'open' | 'none' | { readonly text: string | Uint8Array };
  readonly stderrTailBytes?: number;
  /** Receives the error output piece by piece, not line by line. */
  readonly onStderr?: (text: string) => void;
}

/** A live process whose output is not yet cut into lines. */
export interface StartedChild extends Omit<LiveProcess, 'lines'> {
  readonly chunks: OutputChunks;
}

const defaultStderrTailBytes = 16 * 1024;

/** Starts a program and connects its input, its outputs, its exit and `stop`. */
export async function startChild(request: ChildRequest, given: ProcessDeps): Promise<StartedChild> {
  const deps = { ...given, containment: await given.containment };
  const { clock } = deps;
  const child = await spawnProgram(request, deps, request.stdin === 'none' ? 'ignore' : 'pipe');
  // No `await` before this: until the event loop turns, Node has not reaped the child, so the pid is still its own and
  // no event is missed.
  const startTime = startTimeOf(child.pid);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const chunks = new OutputChunks(child.stdout, exited, clock);
  const stderr = keepStderrTail(child.stderr, {
    clock,
    maxBytes: request.stderrTailBytes ?? defaultStderrTailBytes,
    onText: request.onStderr,
  });
  const stdin = childStdin(child.stdin, request.command);
  if (typeof request.stdin === 'object') {
    // A program may end without reading its input; its exit says whether that was a failure.
    stdin.write(request.stdin.text).catch(() => {});
    stdin.close();
  }

  let stopping: Promise<StopReport> | undefined;
  const tree = { pid: child.pid, startTime, runId: request.runId, child, exited, stdin, chunks, stderr };
  return {
    pid: child.pid,
    startTime,
    chunks,
    exited,
    stderrClosed: stderr.closed,
    stderrTail: () => withHiddenPathHints(stderr.read(), request.isolation ?? null),
    write: (text, signal) => stdin.write(text, signal),
    closeStdin: () => stdin.close(),
    stop: (options = {}) => {
      stopping ??= endTree(tree, deps, options);
      return stopping;
    },
  };
}
