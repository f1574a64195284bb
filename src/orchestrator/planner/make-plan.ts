import { BatonError } from '../../core/baton-error.ts';
import { stateFor } from '../../core/issue/state-role.ts';
import { type Plan, type PlanDraft, plannedChildren, planProblems } from '../../core/planner/plan.ts';
import type { Settings } from '../../core/settings.ts';
import type { PlanAnswer } from '../../runner/runner.ts';
import type { Ask } from '../../tracker/tracker.ts';
import type { Retrying, Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import { askTracker } from '../status/move-issue.ts';
import type { Plans } from './plans.ts';

export interface MakePlanParts
  extends Pick<
    BaseParts,
    'chance' | 'clock' | 'logger' | 'notify' | 'project' | 'source' | 'stopping' | 'store' | 'trackerFor'
  > {
  readonly claims: Claims;
  readonly plans: Plans;
  readonly reads: TrackerReads;
}

/**
 * Takes what a planner says about its issue. The plan is in the store, with the ids of its children, before anything is
 * made in the tracker; the first one that is stored counts, so a repeated call finishes it and makes nothing twice.
 */
export async function makePlan(
  parts: MakePlanParts,
  running: Running,
  draft: PlanDraft,
  signal: AbortSignal,
): Promise<PlanAnswer> {
  const { chance, claims, clock, store, project } = parts;
  const { issue, runId } = running;
  const { planner } = parts.source.read().workflow.settings;
  const key = { project, issueId: issue.id };
  const facts = await store.plans.factsOf(key);
  if (facts.plan === null) {
    const depth = (facts.partOf?.depth ?? 0) + 1;
    const problems = planProblems(draft, depth, planner);
    if (problems.length > 0) return { problems };
    const ids = draft.subtasks.map(() => chance.id());
    const children = plannedChildren(draft, issue, { ids, depth, planner });
    const at = clock.now();
    const madeAt = children.length === 0 ? at : null;
    const plan: Plan = { runId, summary: draft.summary, at, depth, madeAt, children };
    const isOurs = await claims.writeForRun(running, async (tables, of) => {
      await tables.plans.add(of, plan);
    });
    if (!isOurs) throw new BatonError('claim_lost', 'Another daemon has the issue now.');
  }
  const { plan } = await store.plans.factsOf(key);
  if (plan === null) throw new BatonError('internal_error', 'The plan of the issue was not stored.');
  running.plan = { made: plan.madeAt === null ? 'not_yet' : 'all' };
  if (plan.madeAt === null) {
    await askTracker(parts, (late) =>
      writeChildren(parts, issue.id, plan, running.workflow.settings, { signal: AbortSignal.any([signal, late]) }),
    );
    running.plan = { made: 'all' };
  }
  parts.notify();
  return { made: (await store.plans.factsOf(key)).plan?.children.map(({ identifier, id }) => identifier ?? id) ?? [] };
}

/** A plan whose run ended, or whose daemon died, before all of it was in the tracker. */
export async function finishPlan(parts: MakePlanParts, { issue: { id } }: Retrying): Promise<void> {
  const { plan } = await parts.store.plans.factsOf({ project: parts.project, issueId: id });
  if (plan === null || plan.madeAt !== null) return;
  const { settings } = parts.source.read().workflow;
  await askTracker(parts, (signal) => writeChildren(parts, id, plan, settings, { signal }));
}

const caller = { job: 'planner', cause: 'agent' } as const;

async function writeChildren(
  { clock, logger, plans, project, reads, store, trackerFor }: MakePlanParts,
  issueId: string,
  { runId, children }: Plan,
  settings: Settings,
  ask: Ask,
): Promise<void> {
  const { changes } = trackerFor(settings);
  const [todo, blocked] = [stateFor('todo', settings.tracker).state, stateFor('blocked', settings.tracker).state];
  if (changes?.createChildren === undefined || todo === null || blocked === null)
    throw new BatonError('unsupported_setting', 'This tracker cannot create the parts of an issue.');
  const onWrite: NonNullable<Ask['run']>['onWrite'] = ({ kind, id }) =>
    store.runTexts.put({ project, kind, textId: id, runId, at: clock.now() });
  try {
    const made = await changes.createChildren(
      { parentId: issueId, children, states: { todo, blocked } },
      { kind: 'run', runId },
      { ...ask, caller, run: { issueId, onWrite } },
    );
    const identifiers = new Map(made.map((child) => [child.id, child.identifier]));
    await store.plans.made({ project, issueId }, clock.now(), identifiers);
    logger.info('plan_made', { issue_id: issueId, run_id: runId, children: children.length });
  } finally {
    // A part may have been read before it had its blockers, and a relation is no change of the part itself.
    for (const id of [issueId, ...children.map((child) => child.id)]) reads.forget(id);
    plans.readAgain();
  }
}
