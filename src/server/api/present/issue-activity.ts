import type { IssueSummary } from '../../../client/schema/issue.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';

/** What Baton does with an issue now, and why it does not start; by its id. */
export interface Activities {
  of(issueId: string): Pick<IssueSummary, 'activity' | 'skipped'>;
  /** Every issue that Baton does something with. */
  readonly ids: readonly string[];
}

type Activity = NonNullable<IssueSummary['activity']>;

export function activitiesOf(model: ReadModel): Activities {
  const found = new Map<string, Activity>();
  const note = (activity: Activity, entries: readonly { readonly issue: { readonly id: string } }[]): void => {
    for (const { issue } of entries) if (!found.has(issue.id)) found.set(issue.id, activity);
  };
  // One that asks runs too, and that somebody has to answer says more.
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
