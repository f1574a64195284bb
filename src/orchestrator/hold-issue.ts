import type { OrchestratorContext } from './context.ts';
import type { HeldEntry, RunningEntry } from './scheduling-state.ts';

/** Holds an issue for a person. It takes effect at once, and is written down so that a restart still knows it. */
export async function holdIssue(context: OrchestratorContext, entry: HeldEntry): Promise<void> {
  const { state, logger } = context;
  const { issue, code, reason } = entry;
  state.held.set(issue.id, entry);
  context.notify();
  logger.warn('An issue is held for a person.', {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    code,
    reason,
  });
  await writeHold(context, entry);
}

/** Holds the issue of a run when that has ended. It is written down now: a crash before that end must not forget it. */
export async function holdAfterRun(context: OrchestratorContext, run: RunningEntry, reason: string): Promise<void> {
  run.holdAfterwards = reason;
  const { issue, runId } = run;
  await writeHold(context, { issue, code: 'person', reason, since: context.clock.now(), runId });
}

/** Lifts a hold, or one that waits for the end of a run; false when there was none. */
export async function releaseHold(context: OrchestratorContext, issueId: string): Promise<boolean> {
  const { state, store, project, logger } = context;
  const running = state.running.get(issueId);
  const wasWaiting = running !== undefined && running.holdAfterwards !== null;
  if (wasWaiting) running.holdAfterwards = null;
  if (!state.held.delete(issueId) && !wasWaiting) return false;
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

async function writeHold({ store, project, logger }: OrchestratorContext, entry: HeldEntry): Promise<void> {
  const { issue, code, reason, since, runId } = entry;
  try {
    await store.held.put({ project, issueId: issue.id, identifier: issue.identifier, code, reason, since, runId });
  } catch (error) {
    logger.error('A hold could not be written down; it is lost at a restart.', { issue_id: issue.id, error });
  }
}
