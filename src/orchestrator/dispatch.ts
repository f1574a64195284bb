import { type DispatchDecision, planDispatch } from '../core/dispatch-plan.ts';
import type { Issue } from '../core/issue.ts';
import type { Workflow } from '../core/workflow.ts';
import type { OrchestratorContext } from './context.ts';
import { claimedIds, runningStates, whyClaimed } from './scheduling-state.ts';
import { startRun } from './start-run.ts';
import { whyNothingStarts } from './why-nothing-starts.ts';

/**
 * Validates, reads the candidates and starts as many as there are slots, in order (seed 1). While the workflow file is
 * bad nothing new starts. Every issue that was looked at and not started keeps the reason.
 */
export async function dispatchCandidates(context: OrchestratorContext): Promise<void> {
  const { state, source, stopping } = context;
  const { workflow, problem } = source.read();
  if (problem !== null) throw problem;
  const claimedBefore = claimedIds(state);
  const issues = await readCandidates(context, workflow);
  if (stopping.aborted) return;

  // No await from here on: what is decided is started before anything else can change the state.
  const claimedNow = new Set(claimedIds(state));
  const givenBack = new Set(claimedBefore.filter((id) => !claimedNow.has(id)));
  for (const { issue, reason } of decide(
    context,
    workflow,
    issues.filter(({ id }) => !givenBack.has(id)),
  )) {
    if (reason === null) startRun(context, { issue, workflow, attempt: null, retryKind: null, failures: 0 });
    else state.skipped.set(issue.id, { issue, reason });
  }
  const seen = new Set(issues.map(({ id }) => id));
  for (const id of state.skipped.keys()) if (!seen.has(id)) state.skipped.delete(id);
  // What was given back while the tracker was asked may have changed since the answer: it is read again, now.
  if (givenBack.size > 0) context.requestTick();
}

/** A claim of a daemon that runs beside this one. */
export interface ClaimBeside {
  readonly issueId: string;
  /** The state whose slot it takes; null when it takes none. */
  readonly slotInState: string | null;
  readonly why: string;
}

/** What a tick would start now and what not, without starting anything. */
export async function previewDispatch(
  context: OrchestratorContext,
  beside: readonly ClaimBeside[],
): Promise<DispatchDecision[]> {
  const { workflow } = context.source.read();
  return decide(context, workflow, await readCandidates(context, workflow), beside);
}

function readCandidates(context: OrchestratorContext, { settings }: Workflow): Promise<readonly Issue[]> {
  return context.trackerFor(settings).fetchByStates(settings.tracker.activeStates, context.stopping);
}

function decide(
  context: OrchestratorContext,
  { settings }: Workflow,
  issues: readonly Issue[],
  beside: readonly ClaimBeside[] = [],
): DispatchDecision[] {
  const { state } = context;
  const whyBeside = new Map(beside.map(({ issueId, why }) => [issueId, { code: 'claimed', text: why } as const]));
  return planDispatch({
    issues,
    settings,
    runningStates: [...runningStates(state), ...beside.flatMap(({ slotInState }) => slotInState ?? [])],
    startMove: context.trackerFor(settings).startMove,
    whyNot: (issue, startsBefore) =>
      whyClaimed(state, issue.id) ?? whyBeside.get(issue.id) ?? whyNothingStarts(context, issue, startsBefore),
  });
}
