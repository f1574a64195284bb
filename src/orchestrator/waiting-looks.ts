import type { OrchestratorContext } from './context.ts';
import { lookAgain } from './look-again.ts';

/**
 * The step before dispatch (seed 4: retries before new dispatch): an issue whose look came due and found the house full
 * has the first choice of a freed slot, the longest waiting first. While the house is full nothing is read.
 */
export async function serveWaitingLooks(context: OrchestratorContext): Promise<void> {
  const { state, source, stopping } = context;
  const { maxConcurrentAgents } = source.read().workflow.settings.agent;
  const waiting = [...state.retrying.values()].filter(({ slotWaits }) => slotWaits > 0);
  for (const entry of waiting.toSorted((left, right) => right.slotWaits - left.slotWaits)) {
    if (stopping.aborted || state.running.size >= maxConcurrentAgents) return;
    // A look of its own timer, or a command, may have come first.
    if (state.retrying.get(entry.issue.id) !== entry) continue;
    await lookAgain(context, entry);
  }
}
