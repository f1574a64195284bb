import type { SkipReason } from '../core/eligibility.ts';
import type { OrchestratorContext } from './context.ts';
import type { Look, RetryEntry } from './scheduling-state.ts';

export interface Wait {
  readonly delayMs: number;
  /** Why a look that was due could not be carried through. */
  readonly why?: SkipReason;
  readonly slotWaits?: number;
  readonly failedReads?: number;
}

/**
 * Looks at an issue again after a wait. The promise itself is in the store already; this is its timer. A new one takes
 * the place of an older one for the same issue.
 */
export function scheduleLook(context: OrchestratorContext, look: Look, wait: Wait): void {
  if (context.stopping.aborted) return;
  const { issue, kind, attempt, failures, staleRuns, recovery, note, error, dueAt } = look;
  const { retrying } = context.state;
  retrying.get(issue.id)?.timer.cancel();
  const entry: RetryEntry = {
    ...{ issue, kind, attempt, failures, staleRuns, recovery, note, error, dueAt },
    wait: wait.why ?? null,
    slotWaits: wait.slotWaits ?? 0,
    failedReads: wait.failedReads ?? 0,
    timer: context.clock.schedule(wait.delayMs, () => {
      // A timer that was replaced after it had already fallen due must not act for the new promise.
      if (retrying.get(issue.id) === entry) context.lookDue(entry);
    }),
  };
  retrying.set(issue.id, entry);
  context.notify();
}

/** Ends a promise to look, in memory only. */
export function forgetLook({ state }: OrchestratorContext, issueId: string): void {
  state.retrying.get(issueId)?.timer.cancel();
  state.retrying.delete(issueId);
}
