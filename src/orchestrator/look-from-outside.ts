import type { OrchestratorContext } from './context.ts';
import { heldFrom } from './ledger-rows.ts';
import { readPause } from './read-pause.ts';
import { readToday } from './today.ts';

/** What the store says is going on, for a visitor who only looks: nothing is claimed, scheduled or changed. */
export async function lookFromOutside(context: OrchestratorContext): Promise<void> {
  const { store, project, clock, state } = context;
  await readPause(context);
  await readToday(context);
  const { held, claims } = await store.recovery(project, clock.now());
  for (const row of held) state.held.set(row.issueId, heldFrom(row));
  const others = claims.filter(({ isExpired, issueId }) => !isExpired && !state.held.has(issueId));
  state.elsewhere = others.map(({ issueId, host, slotState }) => ({ issueId, host, slotState }));
}
