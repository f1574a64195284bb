import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Issue } from '../../core/issue/issue.ts';
import { type PlanWork, planWork } from '../../core/planner/plan.ts';
import type { PlannerSettings } from '../../core/settings.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';

/** What the decision to start a run knew about the plan of its issue. */
export interface KnownPlan {
  readonly issue: Pick<Issue, 'labels'>;
  readonly work: PlanWork;
}

/** Whether the plan of the issue is still as the decision to start saw it; another daemon may have made it since. */
export async function whyNotPlanned(
  { plans }: Pick<StoreTables, 'plans'>,
  key: IssueKey,
  known: KnownPlan | null,
  planner: PlannerSettings,
): Promise<SkipReason | null> {
  if (known === null || !planner.enabled) return null;
  const facts = await plans.factsOf(key);
  if (facts.partOf?.isMade === false)
    return { code: 'plan_pending', text: 'it is part of a plan that Baton is still writing to the tracker' };
  if (planWork(known.issue, facts, planner) === known.work) return null;
  return { code: 'plan_changed', text: 'its plan was made in the meantime' };
}
