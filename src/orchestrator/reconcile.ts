import { isAskedHold } from '../core/asked-hold.ts';
import { stateClass } from '../core/eligibility.ts';
import { type Issue, normalizeState } from '../core/issue.ts';
import { decideAboutRun } from '../core/reconcile-decision.ts';
import type { StopReason } from '../core/run.ts';
import type { Settings } from '../core/settings.ts';
import { cleanAfterLastRun } from './clean-workspaces.ts';
import { noteCompleted } from './complete-issue.ts';
import type { OrchestratorContext } from './context.ts';
import { countReview } from './count-review.ts';
import { followGivenBack } from './follow-landings.ts';
import { releaseHold } from './hold-issue.ts';
import { endLook } from './look-again.ts';
import type { RetryEntry, RunningEntry, SchedulingState } from './scheduling-state.ts';
import { stopRun } from './stop-run.ts';

/** How long a run may go on after it moved its own issue out of the active states. */
const handOverMs = 60_000;

/** What was claimed when the tracker was asked. */
export interface ClaimedBefore {
  /** What runs, and what is held. */
  readonly ids: readonly string[];
  readonly running: ReadonlyMap<string, RunningEntry>;
  /** Those that wait for their look. */
  readonly looks: ReadonlyMap<string, RetryEntry>;
}

export function claimedBefore({ running, held, retrying }: SchedulingState): ClaimedBefore {
  return { ids: [...running.keys(), ...held.keys()], running: new Map(running), looks: new Map(retrying) };
}

/**
 * Part B of reconciliation (seed 2): stops the runs whose issue ended, moved away or vanished, and keeps the record of
 * the others; an issue that is held, or waits for its look, and left the active states is given back. `fresh` has an issue, null for one that is gone,
 * and nothing for one that could not be read: that one stays as it is.
 */
export async function applyRefresh(
  context: OrchestratorContext,
  before: ClaimedBefore,
  fresh: ReadonlyMap<string, Issue | null>,
  settings: Settings,
): Promise<void> {
  const { state } = context;
  for (const id of before.ids) {
    const issue = fresh.get(id);
    if (issue === undefined) continue;
    const decision = decideAboutRun(issue, settings.tracker);
    // A run that ended while the tracker was asked is past; one that began meanwhile was read later than this.
    const was = before.running.get(id);
    const running = state.running.get(id) === was ? was : undefined;
    if (decision.action === 'keep') {
      if (running !== undefined) keepRunning(context, running, decision.issue);
      continue;
    }
    if (running !== undefined && !isHandingOver(context, running, issue)) {
      if (issue !== null) {
        running.issue = issue;
        countReview(context, id, issue.state);
      }
      stopRun(context, running, decision.reason);
    }
    if (endsHold(state.held.get(id)?.code, decision.reason)) await liftHold(context, id, issue);
  }
  await endLooks(context, before, fresh, settings);
  context.notify();
}

/** What they wait for, a quota or a trial, may take hours; that an issue is over is known now. */
async function endLooks(
  context: OrchestratorContext,
  { looks }: ClaimedBefore,
  fresh: ReadonlyMap<string, Issue | null>,
  { tracker }: Settings,
): Promise<void> {
  for (const [id, look] of looks) {
    const issue = fresh.get(id);
    if (issue !== undefined && decideAboutRun(issue, tracker).action === 'stop') await endLook(context, look, issue);
  }
}

/** One that cannot be lifted now is met again by the next poll; the other issues do not wait for it. */
async function liftHold(context: OrchestratorContext, issueId: string, issue: Issue | null): Promise<void> {
  try {
    await releaseHold(context, issueId, { byPerson: false });
    const { tracker } = context.source.read().workflow.settings;
    if (issue === null) return;
    if (stateClass(issue.state, tracker) !== 'terminal') return followGivenBack(context, issue);
    noteCompleted(context, issue);
    context.own('cleanup', cleanAfterLastRun(context, issue));
  } catch (error) {
    context.logger.warn('hold_release_failed', { issue_id: issueId, error });
  }
}

/** Slots are counted by the state an issue is in now, by every daemon on the store. */
function keepRunning(context: OrchestratorContext, running: RunningEntry, issue: Issue): void {
  const hasMoved = normalizeState(running.issue.state) !== normalizeState(issue.state);
  running.issue = issue;
  if (hasMoved && running.before !== null) context.own('slot', context.ledger.moveSlot(issue.id, issue.state));
}

/**
 * A run that has itself moved its issue to where it is now has a few words left to say and is not cut off (seed 4:
 * respect the agent's decision). Where somebody else moved it further, the run is stopped like any other.
 */
function isHandingOver({ clock }: OrchestratorContext, { ownMove }: RunningEntry, fresh: Issue | null): boolean {
  if (ownMove === null || fresh === null) return false;
  if (ownMove.to !== null && normalizeState(fresh.state) !== ownMove.to) return false;
  return clock.monotonic() - ownMove.atMonotonic < handOverMs;
}

/**
 * A question is answered by moving the issue. What a person holds, or has in his hands, stays held until a person says so or the issue is over;
 * an agent that may be alive holds its issue until a person says that it is not.
 */
function endsHold(code: string | undefined, reason: StopReason): boolean {
  if (code === undefined || code === 'agent_survives') return false;
  return !(isAskedHold(code) || code === 'taken_over') || reason === 'terminal_state' || reason === 'issue_missing';
}
