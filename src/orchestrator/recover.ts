import type { Command } from '../store/commands.ts';
import type { HeldIssue } from '../store/held.ts';
import type { OrchestratorContext } from './context.ts';
import type { Pause } from './scheduling-state.ts';

/** What the store says must still hold. */
export interface Kept {
  readonly held: readonly HeldIssue[];
  readonly paused: Pause | null;
}

/** Reads what an earlier life, or a restore, left in the store: holds, and a pause that nobody has lifted. */
export async function readKept({ store, project }: OrchestratorContext): Promise<Kept> {
  const held = await store.held.list(project);
  const last = await store.commands.latestDone(project, ['pause', 'resume']);
  return { held, paused: last?.kind === 'pause' ? pauseOf(last) : null };
}

/** Takes it up, all at once: no tick can come between. A drain is of this life and stays. */
export function takeUp({ state, logger }: OrchestratorContext, { held, paused }: Kept): void {
  state.held.clear();
  for (const { issueId, identifier, code, reason, since, runId } of held) {
    // One that runs, after a restore: a hold that waits for the end of that run.
    const running = state.running.get(issueId);
    if (running !== undefined) running.holdAfterwards = reason;
    else state.held.set(issueId, { issue: { id: issueId, identifier }, code, reason, since, runId });
  }
  if (state.paused?.kind !== 'drain') state.paused = paused;
  if (paused !== null) logger.warn('Baton was paused and still is.', { since: paused.since, reason: paused.reason });
}

function pauseOf({ payload, result, at }: Command): Pause {
  const { reason } = payload;
  return { since: result?.at ?? at, kind: 'pause', reason: typeof reason === 'string' ? reason : null };
}
