import { normalizeState } from '../core/issue.ts';
import type { OrchestratorContext } from './context.ts';

/**
 * An issue was seen in a state, or moved to it, between two polls: if that is a state of review it counts at once, so that
 * the slot which its run has just freed starts nothing beyond `agent.max_in_review`. The next poll counts anew.
 */
export function countReview({ state, source }: OrchestratorContext, issueId: string, seenIn: string): void {
  const { reviewStates } = source.read().workflow.settings.tracker;
  if (reviewStates.some((name) => normalizeState(name) === normalizeState(seenIn))) state.inReview?.add(issueId);
}
