import { BatonError } from '../core/baton-error.ts';
import type { OrchestratorContext } from './context.ts';

/**
 * Ends every process that an earlier life of this daemon left on this machine, found by its marker: so also when the
 * store is new and knows of no run. One that cannot be ended and belongs neither to a run in progress nor to a ticket that
 * is held for it could be an agent on any ticket; then nothing may start.
 */
export async function endEarlierLives({ processes, store, project, logger }: OrchestratorContext): Promise<void> {
  const { ended, left } = await processes.endEarlierLives();
  if (ended > 0) logger.warn('leftover_processes_ended', { processes: ended });
  const held = (await store.held.list(project)).filter(({ code }) => code === 'agent_survives');
  const known = new Set([...(await store.runs.unfinished(project)), ...held].map(({ runId }) => runId));
  const strangers = left.filter(({ runId }) => runId === null || !known.has(runId));
  if (strangers.length === 0) return;
  throw new BatonError('agent_survives', `${strangers.length} processes of an earlier life could not be ended.`, {
    details: { run_ids: strangers.map(({ runId }) => runId) },
  });
}
