import type { IssueSummary } from '../../../client/schema/issue.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';

/** What Baton is doing with an issue, and why the issue does not start; by issue id. */
export interface Activities {
  of(issueId: string): Pick<IssueSummary, 'activity' | 'skipped'>;
  /** Every issue that Baton is working on, retrying, holding or asking about. */
  readonly ids: readonly string[];
}

type Activity = NonNullable<IssueSummary['activity']>;

export function activitiesOf(model: ReadModel): Activities {
  const found = new Map<string, Activity>();
  const note = (activity: Activity, entries: readonly { readonly issue: { readonly id: string } }[]): void => {
    for (const { issue } of entries) if (!found.has(issue.id)) found.set(issue.id, activity);
  };
  // An issue that asks is also running; that it waits for an answer is the more important fact.
  note('asking', model.questions);
  note('running', model.running);
  note('retrying', [...model.retrying, ...model.waitingQuota]);
  note('held', model.held);
  const skipped = new Map(model.skipped.map(({ issue, reason }) => [issue.id, reason]));
  return {
    of: (issueId) => {
      const reason = skipped.get(issueId);
      return {
        activity: found.get(issueId) ?? null,
        skipped: reason === undefined ? null : { code: reason.code, text: reason.text },
      };
    },
    ids: [...found.keys()],
  };
}
