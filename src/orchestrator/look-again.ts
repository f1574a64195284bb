import { toBatonError } from '../core/baton-error.ts';
import { whyNotCandidate } from '../core/eligibility.ts';
import type { Issue } from '../core/issue.ts';
import { stateOnceStarted, whyNoSlot } from '../core/slots.ts';
import type { OrchestratorContext } from './context.ts';
import { scheduleLook } from './schedule-look.ts';
import { type RetryEntry, runningStates } from './scheduling-state.ts';
import { startRun } from './start-run.ts';
import { whyNothingStarts } from './why-nothing-starts.ts';

/** How soon an issue is looked at again when a look could not be carried through: no slot, no answer, a bad file. */
const nextLookMs = 1_000;

/**
 * A promised look has come due: reads the issue and starts it again, or gives the claim back (seed 2, Retry Timer
 * Fired; specification 8.4). A tracker that does not answer, a full house and a workflow file that is bad just now only
 * postpone the look: they raise neither the attempt nor the failures.
 */
export async function lookAgain(context: OrchestratorContext, entry: RetryEntry): Promise<void> {
  const { state, source, logger, stopping } = context;
  const { id, identifier } = entry.issue;
  const named = { issue_id: id, issue_identifier: identifier };
  const isCurrent = (): boolean => state.retrying.get(id) === entry && !stopping.aborted;
  const { workflow, problem } = source.read();
  const stopped = whyNothingStarts(context, entry.issue);
  if (stopped !== null) return postpone(context, entry, stopped.text);
  if (problem !== null) return postpone(context, entry, `the workflow file cannot be used: ${problem.code}`);

  const tracker = context.trackerFor(workflow.settings);
  let fresh: Issue | undefined;
  try {
    [fresh] = await tracker.fetchByIds([id], stopping);
  } catch (thrown) {
    if (!isCurrent()) return;
    const error = toBatonError(thrown, 'tracker_request');
    logger.warn('A retry could not read its issue; it looks again.', { ...named, error });
    return postpone(context, entry, `retry refresh failed: ${error.message}`);
  }
  if (!isCurrent()) return;

  const refusal =
    fresh === undefined
      ? { text: 'the tracker does not have it any more' }
      : whyNotCandidate(fresh, workflow.settings.tracker);
  if (fresh === undefined || refusal !== null) {
    state.retrying.delete(id);
    logger.info('An issue is given back.', { ...named, reason: refusal?.text });
    context.notify();
    return;
  }
  const full = whyNoSlot(stateOnceStarted(fresh, tracker.startMove), runningStates(state), workflow.settings.agent);
  if (full !== null)
    return postpone(
      context,
      { ...entry, issue: fresh, slotWaits: entry.slotWaits + 1 },
      'no available orchestrator slots',
    );
  state.retrying.delete(id);
  startRun(context, {
    issue: fresh,
    workflow,
    attempt: entry.attempt,
    retryKind: entry.kind,
    failures: entry.failures,
  });
}

function postpone(context: OrchestratorContext, entry: RetryEntry, error: string): void {
  const { issue, kind, attempt, failures, slotWaits } = entry;
  scheduleLook(context, { issue, kind, attempt, failures, slotWaits, error, delayMs: nextLookMs });
}
