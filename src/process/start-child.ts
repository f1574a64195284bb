import type { Clock } from '../clock/clock.ts';
import { childStdin } from './child-stdin.ts';
import type { Custody } from './containment/custody.ts';
import { endTree } from './containment/end-tree.ts';
import type { LiveProcess, ProcessExit, StopReport } from './containment/live-process.ts';
import { startTimeOf } from './containment/process-table.ts';
import { OutputChunks } from './output/output-chunks.ts';
import { keepStderrTail } from './output/stderr-tail.ts';
import { type ProgramRequest, spawnProgram } from './spawn-program.ts';

/** The parts that vary with the machine, passed in. */
export interface ProcessDeps {
  readonly clock: Clock;
  /** The result of `probeCustody`. */
  readonly custody: Custody;
  /** Exported as BATON_DAEMON_ID: the same after each restart, and different for every daemon. */
  readonly daemonId: string;
}

export interface ChildRequest extends ProgramRequest {
  /** `none` is an input that has ended from the start; a text is written and then the input ends. */
  readonly stdin: 'open' | 'none' | { readonly text: string | Uint8Array };
  readonly stderrTailBytes?: number;
  /** Hears the error output piece by piece, not line by line. */
  readonly onStderr?: (text: string) => void;
}

/** A live process whose output is not yet cut into lines. */
export interface StartedChild extends Omit<LiveProcess, 'lines'> {
  readonly chunks: OutputChunks;
}

const defaultStderrTailBytes = 16 * 1024;

/** Starts a program and takes hold of its input, its outputs, its exit and its end. */
export async function startChild(request: ChildRequest, deps: ProcessDeps): Promise<StartedChild> {
  const { clock } = deps;
  const child = await spawnProgram(request, deps, request.stdin === 'none' ? 'ignore' : 'pipe');
  // Until the event loop turns, Node has not collected the child: the pid is still its own and no event is missed.
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
    stderrTail: () => stderr.read(),
    write: (text, signal) => stdin.write(text, signal),
    closeStdin: () => stdin.close(),
    stop: (options = {}) => {
      stopping ??= endTree(tree, deps, options);
      return stopping;
    },
  };
}
