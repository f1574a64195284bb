import { sleep } from '../../clock/clock.ts';
import { isStalled } from '../../core/run/reconcile-decision.ts';
import { isTaskRole } from '../../core/task/task.ts';
import type { Running } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';
import { checkLimits, type LimitParts } from './check-limits.ts';
import type { OpenQuestions } from './open-questions.ts';

export interface WatchRunsParts extends LimitParts, Pick<BaseParts, 'processes' | 'stopping'> {
  readonly questions: OpenQuestions;
}

/** An event reports an exit. If it does not come within this time, the process counts as lost. */
const lostAfterMs = 1_000;

/** Checks the live runs without any request: that they are not stalled and keep to their limits. */
export function checkRuns(parts: WatchRunsParts): void {
  const { claims, clock, source, questions, stopRun } = parts;
  const { settings } = source.read().workflow;
  const { stallTimeoutMs } = settings.agent;
  for (const running of claims.running.values()) {
    const times = { startedAt: running.startedAtMonotonic, lastEventAt: running.lastEventAtMonotonic };
    // A run that asks a person is silent because the answer is missing.
    const isAsking = questions.isAsking(running.runId);
    if (isTaskRole(running.role)) checkDeadline(parts, running, settings[running.role].timeoutMs);
    else if (!isAsking && isStalled(times, clock.monotonic(), stallTimeoutMs)) stopRun(running, 'stalled');
    checkLimits(parts, running);
  }
}

/** A task has a time of its own, and may be silent in it. */
function checkDeadline({ clock, stopRun }: WatchRunsParts, running: Running, timeoutMs: number): void {
  if (clock.monotonic() - running.startedAtMonotonic > timeoutMs) stopRun(running, 'deadline');
}

/**
 * Checks that the process of each live run still exists, by pid and start time (seed 4, Reconcile). A missing one is
 * checked again a moment later, because it may just have ended and its exit event may be on the way.
 */
export function findLostAgents(parts: WatchRunsParts): void {
  const { claims, clock, processes, stopRun } = parts;
  let isMissed = false;
  for (const running of claims.running.values()) {
    const isGone = running.process !== null && !processes.isAlive(running.process);
    running.processMissedAt = isGone ? (running.processMissedAt ?? clock.monotonic()) : null;
    if (running.processMissedAt === null || running.stopRequested !== null) continue;
    if (clock.monotonic() - running.processMissedAt >= lostAfterMs) stopRun(running, 'process_gone');
    else isMissed = true;
  }
  if (!isMissed) return;
  const again = sleep(clock, lostAfterMs, parts.stopping).then(
    () => findLostAgents(parts),
    () => {
      // The daemon stops, and ends the remaining processes itself.
    },
  );
  parts.own('lost agents', again);
}
