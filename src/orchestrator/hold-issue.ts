import type { OrchestratorContext } from './context.ts';
import type { HeldEntry } from './scheduling-state.ts';

/** Holds an issue for a person. It takes effect at once, and is written down so that a restart still knows it. */
export async function holdIssue(context: OrchestratorContext, entry: HeldEntry): Promise<void> {
  const { state, store, project, logger } = context;
  const { issue, code, reason, since, runId } = entry;
  state.held.set(issue.id, entry);
  context.notify();
  logger.warn('An issue is held for a person.', {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    code,
    reason,
  });
  try {
    await store.held.put({ project, issueId: issue.id, identifier: issue.identifier, code, reason, since, runId });
  } catch (error) {
    logger.error('A hold could not be written down; it is lost at a restart.', { issue_id: issue.id, error });
  }
}

/** Lifts a hold; false when there was none. */
export async function releaseHold(context: OrchestratorContext, issueId: string): Promise<boolean> {
  const { state, store, project, logger } = context;
  const wasHeld = state.held.delete(issueId);
  if (!wasHeld) return false;
  context.notify();
  try {
    await store.held.remove({ project, issueId });
  } catch (error) {
    logger.error('The lifting of a hold could not be written down; a restart holds the issue again.', {
      issue_id: issueId,
      error,
    });
  }
  return true;
}
