import { sleep } from '../../clock/clock.ts';
import { isStalled } from '../../core/run/reconcile-decision.ts';
import type { BaseParts } from '../parts.ts';
import { checkLimits, type LimitParts } from './check-limits.ts';
import type { OpenQuestions } from './open-questions.ts';

export interface CustodyParts extends LimitParts, Pick<BaseParts, 'processes' | 'stopping'> {
  readonly questions: OpenQuestions;
}

/** An exit is told by an event; only when that does not come for so long is the process taken for lost. */
const lostAfterMs = 1_000;

/** What can be seen of the live runs without asking anybody: that they show signs of life and keep to their limits. */
export function lookAfterRuns(parts: CustodyParts): void {
  const { claims, clock, source, questions, stopRun } = parts;
  const { stallTimeoutMs } = source.read().workflow.settings.agent;
  for (const running of claims.running.values()) {
    const times = { startedAt: running.startedAtMonotonic, lastEventAt: running.lastEventAtMonotonic };
    // One that asks a person is silent because nobody has answered.
    const isAsking = questions.isAsking(running.runId);
    if (!isAsking && isStalled(times, clock.monotonic(), stallTimeoutMs)) stopRun(running, 'stalled');
    checkLimits(parts, running);
  }
}

/**
 * That the process of each live run, by pid and start time, is still there (seed 4, Reconcile). One that is missed is
 * looked for once more a moment later, for it may just have ended and its exit be on the way.
 */
export function lookForLostAgents(parts: CustodyParts): void {
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
    () => lookForLostAgents(parts),
    () => {
      // The daemon stops, and ends what is left by itself.
    },
  );
  parts.own('lost agents', again);
}
