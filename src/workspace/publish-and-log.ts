import type { LogEvent } from '../core/log-events.ts';
import type { Logger } from '../core/logger.ts';
import type { Publication } from '../core/run/run-evidence.ts';
import { reasonOf } from './file-system.ts';
import type { Checkouts } from './git/checkout/checkout.ts';
import type { RemovalVisit } from './workspace.ts';

export interface PublicationParts {
  readonly checkouts: Checkouts;
  readonly logger: Logger;
}

/** What happens to the workspace next: it stays unchanged, or it is about to be saved and removed. */
export type WorkspaceFate = 'stays' | 'goes';

/** Publishes the branch of a checkout and logs the result. Null where there is no branch to publish. Never rejects. */
export async function publishAndLog(
  path: string,
  { issue, runId }: RemovalVisit,
  fate: WorkspaceFate,
  { checkouts, logger }: PublicationParts,
): Promise<Publication | null> {
  const publication = await checkouts.publish(path).catch((error) => publicationFailed(path, error, checkouts));
  if (publication === null) return null;
  const { outcome, branch, commit, before, code, reason, governing, elsewhere } = publication;
  const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, workspace: path, branch };
  if (outcome === 'published') logger.info('branch_published', { ...named, commit, before });
  if (outcome === 'published' && governing !== undefined)
    logger.warn('branch_governs', { ...named, commit, files: governing });
  if (outcome === 'refused') logger.warn(refusals[fate], { ...named, commit, code, reason });
  if (elsewhere !== null)
    logger.warn('branch_left', {
      ...named,
      head: elsewhere.commit,
      head_branch: elsewhere.branch,
    });
  return publication;
}

const refusals: Readonly<Record<WorkspaceFate, LogEvent>> = {
  stays: 'branch_not_published',
  goes: 'branch_not_published_but_saved',
};

/** The next publication finds out how far this one came. */
async function publicationFailed(path: string, error: unknown, checkouts: Checkouts): Promise<Publication> {
  const checkout = await checkouts.find(path).catch(() => null);
  const nothing = { commit: null, before: null, elsewhere: null };
  const branch = checkout?.branch ?? null;
  return { ...nothing, outcome: 'refused', branch, code: 'failed', reason: reasonOf(error) };
}
