import type { OrchestratorContext } from './context.ts';
import { lookAgain } from './look-again.ts';
import { takenSlots } from './scheduling-state.ts';

/** So many more than there are slots: the first ones may be in states that are full. */
const triedBeyond = 20;

/**
 * An issue whose look came due and found the house full has the first choice of a freed slot, the longest waiting first
 * (seed 4: retries before new dispatch). While the house is full nothing is read; those that may start share one read.
 */
export async function serveWaitingLooks(context: OrchestratorContext): Promise<void> {
  const { state, source, stopping } = context;
  const { maxConcurrentAgents } = source.read().workflow.settings.agent;
  const waiting = [...state.retrying.values()]
    .filter(({ slotWaits }) => slotWaits > 0)
    .toSorted((left, right) => right.slotWaits - left.slotWaits || left.dueAt - right.dueAt);
  const free = maxConcurrentAgents - takenSlots(state).length;
  if (free <= 0) return;
  await Promise.all(
    waiting.slice(0, free + triedBeyond).map(async (entry) => {
      // A look of its own timer, or a command, may have come first.
      if (!stopping.aborted && state.retrying.get(entry.issue.id) === entry) await lookAgain(context, entry);
    }),
  );
}

/** Issues whose look comes due while a read made now is still fresh. */
export function looksDueSoon({ state, clock, source }: OrchestratorContext): string[] {
  const soon = clock.now() + source.read().workflow.settings.polling.freshnessMs;
  return [...state.retrying.values()].filter(({ dueAt }) => dueAt <= soon).map(({ issue }) => issue.id);
}
