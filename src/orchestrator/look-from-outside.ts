import type { OrchestratorContext } from './context.ts';
import { heldFrom, lookFrom } from './ledger-rows.ts';
import { readPause } from './read-pause.ts';
import { isClaimed } from './scheduling-state.ts';
import { readToday } from './today.ts';

const caller = { job: 'visitor', cause: 'person' } as const;

/** What the store says is going on, for a visitor who only looks: nothing is claimed, scheduled or changed. */
export async function lookFromOutside(context: OrchestratorContext): Promise<void> {
  const { store, project, clock, state, source, reads } = context;
  await readPause(context);
  await readToday(context);
  await context.accounts.read();
  await context.room.look();
  const { held, retries, claims } = await store.recovery(project, clock.now());
  for (const row of held) state.held.set(row.issueId, heldFrom(row));
  // One that is due would be looked at by whoever starts now.
  for (const row of retries.filter(({ issueId, dueAt }) => !state.held.has(issueId) && dueAt > clock.now())) {
    const kept = { wait: null, slotWaits: 0, failedReads: 0, timer: { cancel: () => {} } };
    state.retrying.set(row.issueId, { ...lookFrom(row), ...kept });
  }
  const others = claims.filter(({ isExpired, issueId }) => !isExpired && !isClaimed(state, issueId));
  const { agent, tracker } = source.read().workflow.settings;
  if (agent.maxInReview > 0)
    state.inReview = new Set((await reads.byStates(tracker.reviewStates, caller)).map(({ id }) => id));
  state.elsewhere = others.map(({ issueId, host, slotState }) => ({ issueId, host, slotState }));
}
