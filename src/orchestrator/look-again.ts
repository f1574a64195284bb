import { type BatonError, toBatonError } from '../core/baton-error.ts';
import { type SkipReason, stateClass, whyNotCandidate, whyNotRoutable } from '../core/eligibility.ts';
import type { Issue } from '../core/issue.ts';
import { stateOnceStarted, whyNoSlot } from '../core/slots.ts';
import { cleanAfterLastRun } from './clean-workspaces.ts';
import { noteCompleted } from './complete-issue.ts';
import type { OrchestratorContext } from './context.ts';
import { countReview } from './count-review.ts';
import { followGivenBack } from './follow-landings.ts';
import { pollIntervalMs } from './pace.ts';
import { forgetLook, scheduleLook, type Wait } from './schedule-look.ts';
import { type RetryEntry, takenSlots } from './scheduling-state.ts';
import { startRun } from './start-run.ts';
import { whyNothingStarts } from './why-nothing-starts.ts';

/** How soon an issue is looked at again when a look could not be carried through. */
const nextLookMs = 1_000;
/** The same while nothing at all may start: whoever lets work go on serves them at once, so this is only in case. */
const stoppedLookMs = 5_000;

/**
 * A promised look has come due: reads the issue and starts it again, or gives the claim back (seed 2, Retry Timer
 * Fired; specification 8.4). A tracker that does not answer, a full house, a pause and a workflow file that is bad just
 * now only postpone the look: they raise neither the attempt nor the failures, and the promise stays as it is in the store.
 */
export async function lookAgain(context: OrchestratorContext, entry: RetryEntry): Promise<void> {
  const { looking } = context.state;
  // Its timer and a freed slot may both ask for it.
  if (looking.has(entry)) return;
  looking.add(entry);
  try {
    await look(context, entry);
  } finally {
    looking.delete(entry);
  }
}

/** A poll found that the issue is not to be done any more: its claim ends now, whenever its look would be due. */
export async function endLook(context: OrchestratorContext, look: RetryEntry, fresh: Issue | null): Promise<void> {
  const { state, source, stopping } = context;
  const entry = state.retrying.get(look.issue.id);
  // A look that was only postponed meanwhile is the same promise; one that is being carried out sees for itself.
  if (entry?.dueAt !== look.dueAt || state.looking.has(entry) || stopping.aborted) return;
  const { tracker } = source.read().workflow.settings;
  const refusal = fresh === null ? isGone : whyNotRoutable(fresh, tracker);
  if (refusal === null) return;
  state.looking.add(entry);
  try {
    await giveBack(context, entry, fresh, refusal.text);
  } finally {
    state.looking.delete(entry);
  }
}

const isGone = { text: 'the tracker does not have it any more' };

async function look(context: OrchestratorContext, entry: RetryEntry): Promise<void> {
  const { state, source, reads, room, stopping } = context;
  const { id } = entry.issue;
  const isCurrent = (): boolean => state.retrying.get(id) === entry && !stopping.aborted;
  await room.look();
  if (!isCurrent()) return;
  const { problem } = source.read();
  const stopped = whyNothingStarts(context, entry.issue);
  // What a trial leaves alone may be over: that is looked at once, and later by the polls.
  const isFirstOfTrial = stopped?.code === 'not_chosen' && entry.wait?.code !== 'not_chosen';
  if (stopped !== null && !isFirstOfTrial) return postpone(context, entry, { why: stopped, delayMs: stoppedLookMs });
  if (problem !== null) {
    const why = { code: 'workflow_problem', text: `the workflow file cannot be used: ${problem.code}` } as const;
    return postpone(context, entry, { why, delayMs: stoppedLookMs });
  }
  // A house that is full by what is known need not be asked about: a freed slot wakes the look, the timer is only in case.
  const fullBefore = whyFull(context, reads.lastRead(id) ?? null);
  if (fullBefore !== null) return postpone(context, entry, slotWait(context, entry, fullBefore));
  let fresh: Issue | null;
  try {
    fresh = (await reads.byIds([id], { job: 'retry_look', cause: 'retry' })).get(id) ?? null;
  } catch (thrown) {
    return isCurrent() ? waitForTracker(context, entry, toBatonError(thrown)) : undefined;
  }
  if (!isCurrent()) return;

  // The answer may have taken its time: what is decided now is decided by the settings of now.
  const { workflow } = source.read();
  const { settings } = workflow;
  const refusal = fresh === null ? isGone : whyNotCandidate(fresh, settings.tracker);
  if (fresh === null || refusal !== null) return giveBack(context, entry, fresh, refusal?.text ?? '');
  // Between two awaits much may have happened.
  const stoppedNow = whyNothingStarts(context, entry.issue);
  if (stoppedNow !== null) return postpone(context, entry, { why: stoppedNow, delayMs: stoppedLookMs });
  if (state.cleaning.has(id)) {
    const why = { code: 'cleaning', text: 'its old workspace is being removed' } as const;
    return postpone(context, entry, { why, delayMs: nextLookMs });
  }
  const full = whyFull(context, fresh);
  if (full !== null) return postpone(context, entry, slotWait(context, entry, full));
  forgetLook(context, id);
  startRun(context, { issue: fresh, workflow, look: entry });
}

/**
 * The issue could not be read. A tracker that rests is asked by the poll, whose first answer serves those who wait. A bad
 * record waits by itself.
 */
function waitForTracker(context: OrchestratorContext, entry: RetryEntry, error: BatonError): void {
  const { reads, clock, source, logger } = context;
  const { id, identifier } = entry.issue;
  logger.warn('retry_read_failed', {
    issue_id: id,
    issue_identifier: identifier,
    error,
  });
  const { dormantIntervalMs } = source.read().workflow.settings.polling.adaptive;
  const isResting = reads.rest.isResting();
  const ownWaitMs = Math.min(nextLookMs * 2 ** entry.failedReads, dormantIntervalMs);
  const delayMs = Math.max(nextLookMs, isResting ? reads.rest.until - clock.monotonic() : ownWaitMs);
  const code = isResting ? 'tracker_rests' : 'not_read';
  const why = { code, text: `retry refresh failed: ${error.message}` } as const;
  postpone(context, entry, { why, delayMs, failedReads: entry.failedReads + 1 });
}

/** Why there is no slot; of an issue whose state is not known only what holds for all of them. */
function whyFull(context: OrchestratorContext, issue: Issue | null): SkipReason | null {
  const { state, source, pool, trackerFor } = context;
  const { settings } = source.read().workflow;
  const { startMove } = trackerFor(settings);
  const taken = takenSlots(state);
  const slot =
    issue === null
      ? whyNoSlot('', taken, { ...settings.agent, maxConcurrentAgentsByState: {} })
      : whyNoSlot(stateOnceStarted(issue, startMove), taken, settings.agent);
  return slot ?? pool?.mayStart() ?? null;
}

function slotWait(context: OrchestratorContext, { slotWaits }: RetryEntry, why: SkipReason): Wait {
  const delayMs = Math.max(pollIntervalMs(context), nextLookMs);
  return { why, slotWaits: slotWaits + 1, delayMs };
}

/** The issue is over, or not ours to work on: its claim ends. What is terminal is cleaned up too. */
async function giveBack(
  context: OrchestratorContext,
  entry: RetryEntry,
  fresh: Issue | null,
  reason: string,
): Promise<void> {
  const { state, ledger, logger, source } = context;
  const { id, identifier } = entry.issue;
  const { settings } = source.read().workflow;
  // A second look must not come in between; if the store fails, the look is put back.
  entry.timer.cancel();
  try {
    await ledger.release(id, { byPerson: false });
  } catch (thrown) {
    const error = toBatonError(thrown);
    logger.error('claim_release_failed', { issue_id: id, error });
    if (state.retrying.get(id) === entry)
      postpone(context, entry, {
        delayMs: nextLookMs,
        why: { code: 'not_recorded', text: `it could not be given back: ${error.message}` },
      });
    return;
  }
  if (state.retrying.get(id) === entry) state.retrying.delete(id);
  if (fresh !== null) {
    countReview(context, id, fresh.state);
    followGivenBack(context, fresh);
  }
  logger.info('claim_released', { issue_id: id, issue_identifier: identifier, reason });
  if (fresh !== null && stateClass(fresh.state, settings.tracker) === 'terminal') {
    noteCompleted(context, fresh);
    context.own('cleanup', cleanAfterLastRun(context, fresh));
  }
  context.notify();
  context.fillSlots();
}

function postpone(context: OrchestratorContext, entry: RetryEntry, wait: Wait): void {
  scheduleLook(context, entry, { slotWaits: entry.slotWaits, ...wait });
}
