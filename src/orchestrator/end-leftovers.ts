import type { OrchestratorContext } from './context.ts';
import { holdIssue } from './hold-issue.ts';

/**
 * Ends what a daemon that was killed left behind: every run in the store that has no end is looked for by its marker, its
 * processes are ended, and only then is it written down as interrupted. An issue whose agent could not be ended is held.
 *
 * Only where this daemon has the store to itself: on PostgreSQL such a run may be the live one of another daemon.
 */
export async function endLeftovers(context: OrchestratorContext): Promise<void> {
  const { store, project, clock, logger } = context;
  if (store.engine !== 'sqlite') return;
  for (const run of await store.runs.unfinished(project)) {
    const named = { issue_id: run.issueId, issue_identifier: run.identifier, run_id: run.runId };
    const { ended, left } = await context.endProcessesOf(run.runId);
    logger.warn('A run of an earlier life is ended.', { ...named, processes_ended: ended, processes_left: left });
    if (left > 0) {
      const issue = { id: run.issueId, identifier: run.identifier };
      const reason = `${left} processes of an earlier agent could not be ended`;
      await holdIssue(context, { issue, code: 'agent_survives', reason, since: clock.now(), runId: run.runId });
    }
    await store.runs.finish(run.runId, run.generation, {
      endedAt: clock.now(),
      outcome: 'interrupted',
      errorCode: 'orchestrator_restarted',
      errorMessage: 'The daemon ended before the run did.',
    });
  }
}
