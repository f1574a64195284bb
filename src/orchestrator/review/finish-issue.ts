import { toBatonError } from '../../core/baton-error.ts';
import { stateClass } from '../../core/dispatch/eligibility.ts';
import { stateFor } from '../../core/issue/state-role.ts';
import type { Merged, PullRequest } from '../../core/pull/pull-request.ts';
import type { BaseParts } from '../parts.ts';

export type FinishParts = Pick<BaseParts, 'logger' | 'notify' | 'requestTick' | 'source' | 'store' | 'trackerFor'>;

/**
 * A change is in its base: its issue is done, in the name of the person who merged it. Called before the pull request is
 * recorded as merged: after a crash in between, the open pull request is found merged again. Rejects when the tracker
 * cannot be reached now.
 */
export async function finishIssue(
  { logger, source, trackerFor }: FinishParts,
  pull: PullRequest,
  merged: Merged,
): Promise<void> {
  const { settings } = source.read().workflow;
  const tracker = trackerFor(settings);
  const { state } = stateFor('done', settings.tracker);
  const named = { issue_id: pull.issueId, issue_identifier: pull.identifier, pull_request: pull.number };
  logger.info('change_merged', { ...named, commit: merged.commit, method: merged.method, by: merged.by });
  if (tracker.changes === null || state === null) return;
  const [issue] = await tracker.fetchByIds([pull.issueId]);
  if (issue === undefined || stateClass(issue.state, settings.tracker) === 'terminal') return;
  try {
    await tracker.changes.moveIssue(pull.issueId, state, merged.by);
  } catch (thrown) {
    const error = toBatonError(thrown);
    if (error.retryable) throw error;
    logger.warn('merged_issue_not_moved', { ...named, error });
  }
}
