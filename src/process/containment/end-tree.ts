import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../clock/clock.ts';
import type { ChildStdin } from '../child-stdin.ts';
import type { OutputChunks } from '../output/output-chunks.ts';
import type { StderrTail } from '../output/stderr-tail.ts';
import type { Containment } from './containment.ts';
import type { StopOptions, StopReport } from './live-process.ts';
import { signalGroup } from './send-signal.ts';
import { climbStopLadder } from './stop-ladder.ts';
import { findRunProcesses, type SweepReport, sweepRun } from './sweep.ts';

/** A program and the handles that Baton has on it. */
export interface ProcessTree {
  readonly pid: number;
  readonly startTime: number | null;
  readonly runId: string;
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  readonly stdin: ChildStdin;
  readonly chunks: OutputChunks;
  readonly stderr: StderrTail;
}

/** The processes that write are dead by now. Only one that could not be ended makes Baton wait this long. */
const lastStderrMs = 1000;

/**
 * Ends a program by the stop ladder, then the processes it left behind. In a namespace it leaves none behind: `unshare`
 * exits with a code only after the kernel has ended everything inside. Killed by a signal it may be gone first, so then
 * the sweep waits for the rest.
 */
export async function endTree(
  tree: ProcessTree,
  deps: { readonly clock: Clock; readonly containment: Containment },
  options: StopOptions,
): Promise<StopReport> {
  // A program that waits for its output to be read could not end by itself.
  tree.chunks.discardIfUnread();
  const hasExited = (): boolean => tree.child.exitCode !== null || tree.child.signalCode !== null;
  const { pid, startTime } = tree;
  const leader = startTime === null ? undefined : { pid, startTime };
  // A namespace ends all descendants with the program.
  const sweeps = deps.containment !== 'group_only' && options.keepsOthers !== true;
  const known =
    sweeps && deps.containment === 'marker_sweep' && !hasExited()
      ? await findRunProcesses(tree.runId, deps, leader)
      : [];
  const how = await climbStopLadder(
    {
      exited: tree.exited,
      hasExited,
      closeStdin: () => tree.stdin.close(),
      signalGroup: (signal) => signalGroup(tree, signal),
    },
    deps.clock,
    options,
  );
  if (!sweeps) signalGroup(tree, 'SIGKILL');
  const mayHaveLeft = sweeps && !(deps.containment === 'user_pid_namespace' && tree.child.exitCode !== null);
  const swept = mayHaveLeft
    ? await sweepRun(tree.runId, deps, { known, leader, graceMs: options.survivorGraceMs })
    : nothingLeft;
  await tree.stderr.finish(lastStderrMs);
  return { how, survivorsEnded: swept.ended, survivorsLeft: swept.left };
}

const nothingLeft: SweepReport = { ended: 0, left: 0 };
