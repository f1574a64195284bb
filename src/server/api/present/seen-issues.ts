import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { Activities } from './issue-activity.ts';
import { type IssueFacts, presentNamedIssue, presentTrackerIssue } from './present-issue.ts';

/** Every issue that Baton sees of a tracker which is another's, each once, as it was last seen. */
export function seenIssues(model: ReadModel, activities: Activities): readonly IssueFacts[] {
  const found = new Map<string, IssueFacts>();
  const whole = [
    ...model.running.map(({ issue }) => issue),
    ...model.candidates,
    ...model.reviews,
    ...model.skipped.map(({ issue }) => issue),
  ];
  for (const issue of whole) if (!found.has(issue.id)) found.set(issue.id, presentTrackerIssue(issue, activities));
  const named = [
    ...model.completed.map(({ issue, state }) => ({ ...issue, state })),
    ...[...model.retrying, ...model.waitingQuota, ...model.held, ...model.questions].map(({ issue }) => issue),
  ];
  for (const issue of named) if (!found.has(issue.id)) found.set(issue.id, presentNamedIssue(issue, activities));
  return [...found.values()];
}
