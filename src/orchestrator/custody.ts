import { sleep } from '../clock/clock.ts';
import { isStalled } from '../core/reconcile-decision.ts';
import { checkLimits } from './check-limits.ts';
import type { OrchestratorContext } from './context.ts';
import { stopRun } from './stop-run.ts';

/** An exit is told by an event; only when that does not come for so long is the process taken for lost. */
const lostAfterMs = 1_000;

/** What can be seen of the live runs without asking anybody: that they show signs of life and keep to their limits. */
export function lookAfterRuns(context: OrchestratorContext): void {
  const { state, clock, source } = context;
  const { stallTimeoutMs } = source.read().workflow.settings.agent;
  for (const entry of state.running.values()) {
    const times = { startedAt: entry.startedAtMonotonic, lastEventAt: entry.lastEventAtMonotonic };
    // One that asks a person is silent because nobody has answered.
    const isAsking = context.questions.isAsking(entry.runId);
    if (!isAsking && isStalled(times, clock.monotonic(), stallTimeoutMs)) stopRun(context, entry, 'stalled');
    checkLimits(context, entry);
  }
}

/**
 * That the process of each live run, by pid and start time, is still there (seed 4, Reconcile). One that is missed is
 * looked for once more a moment later, for it may just have ended and its exit be on the way.
 */
export function lookForLostAgents(context: OrchestratorContext): void {
  const { state, clock, processes } = context;
  let isMissed = false;
  for (const entry of state.running.values()) {
    const isGone = entry.process !== null && !processes.isAlive(entry.process);
    entry.processMissedAt = isGone ? (entry.processMissedAt ?? clock.monotonic()) : null;
    if (entry.processMissedAt === null || entry.stopRequested !== null) continue;
    if (clock.monotonic() - entry.processMissedAt >= lostAfterMs) stopRun(context, entry, 'process_gone');
    else isMissed = true;
  }
  if (!isMissed) return;
  const again = sleep(clock, lostAfterMs, context.stopping).then(
    () => lookForLostAgents(context),
    () => {
      // The daemon stops, and ends what is left by itself.
    },
  );
  context.own('lost agents', again);
}
