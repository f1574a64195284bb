import { type Clock, timedOut, within } from '../../clock/clock.ts';
import type { StopOptions, StopReport } from './live-process.ts';

export interface Stoppable {
  readonly exited: Promise<unknown>;
  hasExited(): boolean;
  closeStdin(): void;
  signalGroup(signal: NodeJS.Signals): void;
}

/** Codex ends within 25 ms of a closed input, Claude within 1.2 s of TERM. A busy machine needs several times that. */
const defaults = { closeStdinMs: 2000, terminateMs: 5000, killMs: 5000 };

/** Asks a process to end, each rung harder than the last: close its input, TERM, KILL. */
export async function climbStopLadder(
  child: Stoppable,
  clock: Clock,
  options: StopOptions,
): Promise<StopReport['how']> {
  if (child.hasExited()) return 'already_exited';
  const waits = { ...defaults, ...options };
  const rungs = [
    { how: 'closed_stdin', act: () => child.closeStdin(), waitMs: waits.closeStdinMs },
    { how: 'terminated', act: () => child.signalGroup('SIGTERM'), waitMs: waits.terminateMs },
    { how: 'killed', act: () => child.signalGroup('SIGKILL'), waitMs: waits.killMs },
  ] as const;
  for (const rung of rungs) {
    rung.act();
    if (rung.waitMs > 0 && (await within(clock, rung.waitMs, child.exited)) !== timedOut) return rung.how;
  }
  return 'killed';
}
