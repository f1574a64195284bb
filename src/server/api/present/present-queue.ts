import type { IssueSummary } from '../../../client/schema/issue.ts';
import type { Queue } from '../../../client/schema/system.ts';
import { inDispatchOrder } from '../../../core/dispatch/dispatch-order.ts';
import { freeSlots, slotsText } from '../../../core/dispatch/slots.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { ReadModel, RetryingView } from '../../../orchestrator/view/read-model.ts';
import { activitiesOf } from './issue-activity.ts';
import { presentTrackerIssue } from './present-issue.ts';
import { waitWords } from './present-now.ts';

/** More than a person reads. */
const mostCandidates = 10_000;

/** Every candidate that has not started, in the order of starts, each with the reason why it waits. */
export function presentQueue(model: ReadModel): Queue {
  const nextPoll = timeText(model.jobs.find(({ name }) => name === 'tracker_poll')?.nextDueAt ?? null);
  const started = new Set(model.running.map(({ issue }) => issue.id));
  const retries = new Map([...model.retrying, ...model.waitingQuota].map((retry) => [retry.issue.id, retry]));
  const held = new Map(model.held.map((entry) => [entry.issue.id, entry]));
  const activities = activitiesOf(model);
  return {
    candidates: inDispatchOrder(model.candidates.filter(({ id }) => !started.has(id)))
      .slice(0, mostCandidates)
      .map((issue) => {
        const { id, identifier, title, state, priority, skipped } = presentTrackerIssue(issue, activities);
        const hold = held.get(id);
        const retry = retries.get(id);
        const reason = hold === undefined ? whyWaits(model, retry, skipped) : { code: hold.code, text: hold.reason };
        return {
          issue_id: id,
          issue_identifier: identifier,
          title,
          state,
          priority,
          reason,
          // A held issue waits for a person, not for a time.
          next_check_at: hold !== undefined ? null : retry === undefined ? nextPoll : timeText(retry.dueAt),
        };
      }),
    next_poll_at: nextPoll,
  };
}

/**
 * A due retry waits for the reason that its last check found. Without any reason it waits for a slot, if none is free.
 */
function whyWaits(
  { at, slots }: ReadModel,
  retry: RetryingView | undefined,
  skipped: IssueSummary['skipped'],
): IssueSummary['skipped'] {
  if (retry?.waitReason != null)
    return { code: retry.waitCode ?? 'claimed', text: waitWords(retry.waitReason, retry.error) ?? retry.waitReason };
  // The claim is not the reason: it belongs to this very retry.
  const other = retry !== undefined && skipped?.code === 'claimed' ? null : skipped;
  if (retry !== undefined && retry.dueAt > at) return skipped;
  if (other !== null || freeSlots(slots) > 0) return other;
  return { code: 'project_full', text: `no slot (${slotsText(slots)})` };
}
