import { isStalled } from '../core/reconcile-decision.ts';
import { checkLimits } from './check-limits.ts';
import type { OrchestratorContext } from './context.ts';
import { stopRun } from './stop-run.ts';

/** An exit is told by an event; only when that does not come for so long is the process taken for lost. */
const lostAfterMs = 1_000;

/**
 * What can be seen of the live runs without asking anybody (seed 4, Reconcile; seed 2, Part A): that their process, by
 * pid and start time, is still there; that they show signs of life; that they keep to their limits.
 */
export function lookAfterRuns(context: OrchestratorContext): void {
  const { state, clock, source, processes } = context;
  const { stallTimeoutMs } = source.read().workflow.settings.agent;
  for (const entry of state.running.values()) {
    const times = { startedAt: entry.startedAtMonotonic, lastEventAt: entry.lastEventAtMonotonic };
    const isGone = entry.process !== null && !processes.isAlive(entry.process);
    // Two looks at least: ticks may come in bursts, just when an agent ends.
    entry.processMissedAt = isGone ? (entry.processMissedAt ?? clock.monotonic()) : null;
    if (entry.processMissedAt !== null && clock.monotonic() - entry.processMissedAt >= lostAfterMs)
      stopRun(context, entry, 'process_gone');
    if (isStalled(times, clock.monotonic(), stallTimeoutMs)) stopRun(context, entry, 'stalled');
    checkLimits(context, entry);
  }
}
