import type { NeedsYou } from '../../client/schema/now.ts';
import { freshMs, type NotifyFacts, type NotifyIssue } from '../../core/notify/notify-cause.ts';
import type { ReadModel } from '../../orchestrator/view/read-model.ts';
import { finishedSince, presentNow } from '../../server/api/present/present-now.ts';

/** The facts for notifications: the same rows that the Now screen shows. */
export function notifyFacts(project: string, model: ReadModel): NotifyFacts {
  const { needs_you } = presentNow(project, model);
  const repeats = new Map(model.questions.map((question) => [question.id, question.repeats ?? null]));
  return {
    at: model.at,
    // Before the first poll is answered, Baton does not know which issues wait for a review.
    isComplete: model.isPolled,
    needsYou: needs_you.map((row) => ({
      kind: row.kind,
      key: row.key,
      code: row.code,
      reason: row.reason,
      since: msOf(row.since),
      issue: issueOf(row),
      runId: row.run_id,
      questionId: row.question_id,
      actions: row.actions,
      repeats: repeats.get(row.question_id ?? '') ?? null,
    })),
    // Issues that finished shortly before midnight are still news after it.
    finished: finishedSince(model, model.at - freshMs).map(
      ({ issue_id: id, issue_identifier: identifier, title, issue_url: url, state, at }) => ({
        issue: { id, identifier, title, url },
        state,
        at: msOf(at) ?? model.at,
      }),
    ),
  };
}

function issueOf({ issue_id: id, issue_identifier: identifier, title, issue_url: url }: NeedsYou): NotifyIssue | null {
  return id === null || identifier === null ? null : { id, identifier, title, url };
}

function msOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}
