import type { OrchestratorContext } from './context.ts';
import type { RetryEntry } from './scheduling-state.ts';

/** A promise to look at an issue again after `delayMs`. A new one takes the place of an older one for the same issue. */
export function scheduleLook(
  context: OrchestratorContext,
  look: Omit<RetryEntry, 'timer' | 'dueAt'> & { delayMs: number },
): void {
  if (context.stopping.aborted) return;
  const { delayMs, ...rest } = look;
  const { retrying } = context.state;
  retrying.get(look.issue.id)?.timer.cancel();
  const entry: RetryEntry = {
    ...rest,
    dueAt: context.clock.now() + delayMs,
    timer: context.clock.schedule(delayMs, () => {
      // A timer that was replaced after it had already fallen due must not act for the new promise.
      if (retrying.get(look.issue.id) === entry) context.lookDue(entry);
    }),
  };
  retrying.set(look.issue.id, entry);
  context.notify();
}
