import type { Command } from '../store/commands.ts';
import type { OrchestratorContext } from './context.ts';
import type { Pause } from './scheduling-state.ts';

/**
 * Takes up a pause that nobody has lifted: one from an earlier life, or one that another daemon on the same store was
 * told. A drain is of this life alone and stays.
 */
export async function readPause(context: OrchestratorContext): Promise<void> {
  const { store, project, state, logger } = context;
  const before = state.paused;
  const last = await store.commands.latestDone(project, ['pause', 'resume']);
  // What was asked for here meanwhile, or is not answered yet, is newer than what was read.
  if (state.paused?.kind === 'drain' || state.paused !== before || state.unansweredPause !== null) return;
  const paused = last?.kind === 'pause' ? pauseOf(last) : null;
  if (paused !== null && state.paused === null)
    logger.warn('still_paused', { since: paused.since, reason: paused.reason });
  state.paused = paused;
}

function pauseOf({ payload, result, at }: Command): Pause {
  const { reason } = payload;
  return { since: result?.at ?? at, kind: 'pause', reason: typeof reason === 'string' ? reason : null };
}
