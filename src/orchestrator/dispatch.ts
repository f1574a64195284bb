import { compareForDispatch } from '../core/dispatch-order.ts';
import { whyNotCandidate } from '../core/eligibility.ts';
import { whyNoSlot } from '../core/slots.ts';
import type { OrchestratorContext } from './context.ts';
import { runningStates, whyClaimed } from './scheduling-state.ts';
import { startRun } from './start-run.ts';

/**
 * Validates, reads the candidates and starts as many as there are slots, in order (seed 1). While the workflow file is
 * bad nothing new starts. Every issue that was looked at and not started keeps the reason.
 */
export async function dispatchCandidates(context: OrchestratorContext): Promise<void> {
  const { state, source, stopping } = context;
  const { workflow, problem } = source.read();
  if (problem !== null) throw problem;
  const { settings } = workflow;
  const issues = await context.trackerFor(settings).fetchByStates(settings.tracker.activeStates, stopping);
  if (stopping.aborted) return;

  // No await from here on: what is decided is started before anything else can change the state.
  for (const issue of issues.toSorted(compareForDispatch)) {
    const reason =
      whyClaimed(state, issue.id) ??
      whyNotCandidate(issue, settings.tracker) ??
      whyNoSlot(issue.state, runningStates(state), settings.agent);
    if (reason === null) startRun(context, { issue, workflow, attempt: null, retryKind: null, failures: 0 });
    else state.skipped.set(issue.id, { issue, reason });
  }
  const seen = new Set(issues.map(({ id }) => id));
  for (const id of state.skipped.keys()) if (!seen.has(id)) state.skipped.delete(id);
}
