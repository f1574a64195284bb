import type { OrchestratorContext } from './context.ts';

/** Takes up what an earlier life left in the store: holds, and a pause that nobody has lifted. */
export async function recover({ state, store, project, logger }: OrchestratorContext): Promise<void> {
  for (const { issueId, identifier, code, reason, since, runId } of await store.held.list(project)) {
    state.held.set(issueId, { issue: { id: issueId, identifier }, code, reason, since, runId });
  }
  const last = await store.commands.latestDone(project, ['pause', 'resume']);
  if (last?.kind === 'pause') {
    const { reason } = last.payload;
    state.paused = {
      since: last.result?.at ?? last.at,
      kind: 'pause',
      reason: typeof reason === 'string' ? reason : null,
    };
    logger.warn('Baton was paused and still is.', { since: state.paused.since, reason: state.paused.reason });
  }
}
