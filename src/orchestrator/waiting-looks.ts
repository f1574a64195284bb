import type { SkipReason } from '../core/eligibility.ts';
import type { OrchestratorContext } from './context.ts';
import { lookAgain } from './look-again.ts';
import { scheduleLook } from './schedule-look.ts';
import { takenSlots } from './scheduling-state.ts';

/** So many more than there are slots: the first ones may be in states that are full. */
const triedBeyond = 20;

/**
 * An issue whose look came due and found the house full, or a pause, has the first choice of a free slot, the longest
 * waiting first (seed 4: retries before new dispatch). While this project has no free slot nothing is read; those that
 * may start share one read.
 */
export async function serveWaitingLooks(context: OrchestratorContext): Promise<void> {
  const { state, source, reads, stopping } = context;
  const { maxConcurrentAgents } = source.read().workflow.settings.agent;
  const waiting = [...state.retrying.values()]
    .filter(({ slotWaits, wait }) => slotWaits > 0 || (wait !== null && isForEverybody(wait)))
    .filter(({ wait }) => wait?.code !== 'tracker_rests' || !reads.rest.isResting())
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

/** An account is mended before its time: whoever waits for one is looked at now, and others may start. */
export function lookAtWaiting(context: OrchestratorContext): void {
  const { state, accounts, source } = context;
  if (accounts.whyNone(source.read().workflow.settings.agent, 0) !== null) return;
  for (const entry of state.retrying.values())
    if (entry.kind === 'quota' && entry.wait === null && !state.looking.has(entry))
      scheduleLook(context, entry, { delayMs: 0 });
  context.fillSlots();
}

/** Reasons that end for all issues at once, and then nobody waits for a timer. */
function isForEverybody({ code }: SkipReason): boolean {
  return [
    'paused',
    'day_limit',
    'no_room',
    'no_requests',
    'waiting_quota',
    'workflow_problem',
    'tracker_rests',
  ].includes(code);
}

/** Issues whose look comes due while a read made now is still fresh. */
export function looksDueSoon({ state, clock, source }: OrchestratorContext): string[] {
  const soon = clock.now() + source.read().workflow.settings.polling.freshnessMs;
  return [...state.retrying.values()].filter(({ dueAt }) => dueAt <= soon).map(({ issue }) => issue.id);
}
