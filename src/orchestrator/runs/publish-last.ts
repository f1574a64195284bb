import { noEvidence, type Publication } from '../../core/run/run-evidence.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { BaseParts } from '../parts.ts';

export type PublishLastParts = Pick<BaseParts, 'host' | 'logger' | 'source' | 'store' | 'workspacesFor'>;

/**
 * Publishes the commits in the workspace of a run that has ended, and records the result with the run. Null where there is
 * nothing to publish on this machine. Never rejects.
 */
export async function publishLast(parts: PublishLastParts, last: RunRecord): Promise<Publication | null> {
  const { host, source, store, logger } = parts;
  if (last.workspace === null || last.host !== host) return null;
  const issue = { id: last.issueId, identifier: last.identifier, title: '' };
  const workspaces = parts.workspacesFor(source.read().workflow.settings);
  const publication = await workspaces.bringHome(last.workspace, { issue, runId: last.runId, attempt: last.attempt });
  if (publication === null) return null;
  try {
    await store.runs.noteEvidence(last.runId, { ...(last.evidence ?? noEvidence), publication });
  } catch (error) {
    logger.warn('publish_write_failed', { run_id: last.runId, error });
  }
  return publication;
}
