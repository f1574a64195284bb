import type { LogEvent } from '../core/log-events.ts';
import type { Logger } from '../core/logger.ts';
import type { Publication } from '../core/run/run-evidence.ts';
import { reasonOf } from './file-system.ts';
import type { Checkouts } from './git/checkout/checkout.ts';
import type { RemovalVisit } from './workspace.ts';

export interface DeliveryParts {
  readonly checkouts: Checkouts;
  readonly logger: Logger;
}

/** What follows for the workspace: it stays unchanged, or it is about to be saved and removed. */
export type Afterwards = 'stays' | 'goes';

/** Publishes the branch of a checkout and logs the result. Null where there is no branch to publish. Never rejects. */
export async function deliverBranch(
  path: string,
  { issue, runId }: RemovalVisit,
  afterwards: Afterwards,
  { checkouts, logger }: DeliveryParts,
): Promise<Publication | null> {
  const delivery = await checkouts.publish(path).catch((error) => undelivered(path, error, checkouts));
  if (delivery === null) return null;
  const { outcome, branch, commit, before, code, reason, governing, elsewhere } = delivery;
  const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, workspace: path, branch };
  if (outcome === 'published') logger.info('branch_published', { ...named, commit, before });
  if (outcome === 'published' && governing !== undefined)
    logger.warn('branch_governs', { ...named, commit, files: governing });
  if (outcome === 'refused') logger.warn(refusals[afterwards], { ...named, commit, code, reason });
  if (elsewhere !== null)
    logger.warn('branch_left', {
      ...named,
      head: elsewhere.commit,
      head_branch: elsewhere.branch,
    });
  return delivery;
}

const refusals: Readonly<Record<Afterwards, LogEvent>> = {
  stays: 'branch_not_published',
  goes: 'branch_not_published_but_saved',
};

/** It is unknown how far the publication came; the next one finds out. */
async function undelivered(path: string, error: unknown, checkouts: Checkouts): Promise<Publication> {
  const checkout = await checkouts.find(path).catch(() => null);
  const nothing = { commit: null, before: null, elsewhere: null };
  const branch = checkout?.branch ?? null;
  return { ...nothing, outcome: 'refused', branch, code: 'failed', reason: reasonOf(error) };
}
