import { toBatonError } from '../../core/baton-error.ts';
import { stateClass } from '../../core/dispatch/eligibility.ts';
import { stateFor } from '../../core/issue/state-role.ts';
import type { Merged, PullRequest } from '../../core/pull/pull-request.ts';
import type { BaseParts } from '../parts.ts';
import { type MoveParts, moveIssue } from '../status/move-issue.ts';

export type FinishParts = MoveParts &
  Pick<BaseParts, 'logger' | 'notify' | 'requestTick' | 'source' | 'store' | 'trackerFor'>;

const caller = { job: 'review', cause: 'person' } as const;

/**
 * A change is in its base: its issue is done, in the name of the person who merged it. Called before the pull request is
 * recorded as merged: after a crash in between, the open pull request is found merged again. Rejects when the tracker
 * cannot be reached now.
 */
export async function finishIssue(parts: FinishParts, pull: PullRequest, merged: Merged): Promise<void> {
  const { logger, reads, source, trackerFor } = parts;
  const { settings } = source.read().workflow;
  const tracker = trackerFor(settings);
  const { state } = stateFor('done', settings.tracker);
  const named = { issue_id: pull.issueId, issue_identifier: pull.identifier, pull_request: pull.number };
  logger.info('change_merged', { ...named, commit: merged.commit, method: merged.method, by: merged.by });
  if (tracker.changes === null || state === null) return;
  reads.forget(pull.issueId);
  const issue = (await reads.byIds([pull.issueId], caller)).get(pull.issueId) ?? null;
  if (issue === null || stateClass(issue.state, settings.tracker) === 'terminal') return;
  try {
    await moveIssue(parts, tracker.changes, { id: pull.issueId, to: state, by: merged.by, caller });
  } catch (thrown) {
    const error = toBatonError(thrown);
    // A daemon that stops leaves it to the next one.
    if (error.retryable || parts.stopping.aborted) throw error;
    logger.warn('merged_issue_not_moved', { ...named, error });
  }
}
