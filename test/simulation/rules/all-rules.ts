import type { World } from '../world.ts';
import { accountReady } from './account-ready.ts';
import { answersDelivered } from './answers-delivered.ts';
import { backoff } from './backoff.ts';
import { claimHasReason } from './claim-has-reason.ts';
import { contextRecovery } from './context-recovery.ts';
import { counters } from './counters.ts';
import { heldStays } from './held-stays.ts';
import { issuesFinish } from './issues-finish.ts';
import { limits } from './limits.ts';
import { liveWorkspace } from './live-workspace.ts';
import { neverFalls } from './never-falls.ts';
import { noCrash } from './no-crash.ts';
import { noIssueForgotten } from './no-issue-forgotten.ts';
import { oneAgent } from './one-agent.ts';
import { completionOnce } from './pipeline/completion-once.ts';
import { phaseEnds } from './pipeline/phase-ends.ts';
import { phaseForward } from './pipeline/phase-forward.ts';
import { workWaits } from './pipeline/work-waits.ts';
import { planBounds } from './planner/plan-bounds.ts';
import { planOnce } from './planner/plan-once.ts';
import { questionHasReason } from './question-has-reason.ts';
import { quotaWaits } from './quota-waits.ts';
import { autoMerge } from './review/auto-merge.ts';
import { doneNeedsMerge } from './review/done-needs-merge.ts';
import { foreignCommits } from './review/foreign-commits.ts';
import { honestChecks } from './review/honest-checks.ts';
import { honestVerdicts } from './review/honest-verdicts.ts';
import { mergeFinishes } from './review/merge-finishes.ts';
import { mergeOnce } from './review/merge-once.ts';
import { onePull } from './review/one-pull.ts';
import { reviewSettles } from './review/review-settles.ts';
import { rounds } from './review/rounds.ts';
import { wordsArrive } from './review/words-arrive.ts';
import type { Rule } from './rule.ts';
import { slots } from './slots.ts';
import { takenOver } from './taken-over.ts';
import { filedOnce } from './tasks/filed-once.ts';
import { proposedStays } from './tasks/proposed-stays.ts';
import { roleBudgets } from './tasks/role-budgets.ts';
import { scanDue } from './tasks/scan-due.ts';
import { taskRuns } from './tasks/task-runs.ts';
import { taskUnasked } from './tasks/task-unasked.ts';
import { tasksEnd } from './tasks/tasks-end.ts';
import { writtenFirst } from './written-first.ts';

export function allRules(world: World): Rule[] {
  const rules = [
    oneAgent,
    slots,
    claimHasReason,
    noIssueForgotten,
    backoff,
    neverFalls,
    writtenFirst,
    counters,
    limits,
    heldStays,
    liveWorkspace,
    accountReady,
    answersDelivered,
    questionHasReason,
    takenOver,
    quotaWaits,
    contextRecovery,
    roleBudgets,
    issuesFinish,
    noCrash,
  ];
  const { review, pipeline, tasks } = world;
  const ofReview = [
    onePull,
    mergeOnce,
    mergeFinishes,
    autoMerge,
    doneNeedsMerge,
    foreignCommits,
    wordsArrive,
    rounds,
    honestChecks,
    honestVerdicts,
    reviewSettles,
  ];
  const ofPipeline = [completionOnce, phaseForward, workWaits, phaseEnds];
  const ofTasks = [filedOnce, taskUnasked, tasksEnd, taskRuns, proposedStays];
  return [
    ...rules.map((rule) => rule(world)),
    ...(review === null ? [] : ofReview.map((rule) => rule(world, review))),
    ...(pipeline === null ? [] : ofPipeline.map((rule) => rule(world, pipeline))),
    ...(world.plan.planner === null ? [] : [planOnce(world), planBounds(world)]),
    ...(tasks === null ? [] : ofTasks.map((rule) => rule(world, tasks))),
    ...(tasks?.plan.scanner == null ? [] : [scanDue(world, tasks.plan.scanner)]),
  ];
}
