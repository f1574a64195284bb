import type { OrchestratorContext } from './context.ts';

/** Takes up what is in the store from an earlier life, or after a restore: holds, and a pause that nobody has lifted. */
export async function recover({ state, store, project, logger }: OrchestratorContext): Promise<void> {
  state.held.clear();
  state.paused = null;
  for (const { issueId, identifier, code, reason, since, runId } of await store.held.list(project)) {
    // One that runs, after a restore: a hold that waits for the end of that run.
    const running = state.running.get(issueId);
    if (running !== undefined) running.holdAfterwards = reason;
    else state.held.set(issueId, { issue: { id: issueId, identifier }, code, reason, since, runId });
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
