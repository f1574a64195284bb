import { toBatonError } from '../core/baton-error.ts';
import { type Issue, normalizeState } from '../core/issue.ts';
import { decideAboutRun, isStalled } from '../core/reconcile-decision.ts';
import type { StopReason } from '../core/run.ts';
import type { OrchestratorContext } from './context.ts';
import { releaseHold } from './hold-issue.ts';
import type { RunningEntry } from './scheduling-state.ts';
import { stopRun } from './stop-run.ts';

/** How long a run may go on after it moved its own issue out of the active states. */
const handOverMs = 60_000;

/** Part A of reconciliation (seed 2): ends runs whose agent has shown no sign of life for too long. */
export async function endStalledRuns(context: OrchestratorContext): Promise<void> {
  const { state, clock, source } = context;
  const { stallTimeoutMs } = source.read().workflow.settings.agent;
  for (const entry of state.running.values()) {
    const times = { startedAt: entry.startedAtMonotonic, lastEventAt: entry.lastEventAtMonotonic };
    if (isStalled(times, clock.monotonic(), stallTimeoutMs)) stopRun(context, entry, 'stalled');
  }
}

/**
 * Part B: reads the claimed issues and stops the runs whose issue ended, moved away or vanished; a held issue that left
 * the active states is given back. A read that fails changes nothing.
 */
export async function refreshClaimedIssues(context: OrchestratorContext): Promise<void> {
  const { state, source, logger, stopping } = context;
  const before = new Map(state.running);
  const ids = [...before.keys(), ...state.held.keys()];
  if (ids.length === 0) return;
  const { settings } = source.read().workflow;
  let fresh: Map<string, Issue>;
  try {
    const issues = await context.trackerFor(settings).fetchByIds(ids, stopping);
    fresh = new Map(issues.map((issue) => [issue.id, issue]));
  } catch (thrown) {
    const error = toBatonError(thrown, 'tracker_request');
    logger.warn('The running issues could not be read; everything stays as it is.', { error });
    return;
  }
  for (const id of ids) {
    const decision = decideAboutRun(fresh.get(id) ?? null, settings.tracker);
    // A run that ended while the tracker was asked is past; one that began meanwhile was read later than this.
    const running = state.running.get(id) === before.get(id) ? before.get(id) : undefined;
    if (decision.action === 'keep') {
      if (running !== undefined) running.issue = decision.issue;
      continue;
    }
    if (running !== undefined && !isHandingOver(context, running, fresh.get(id)))
      stopRun(context, running, decision.reason);
    if (endsHold(state.held.get(id)?.code, decision.reason)) await releaseHold(context, id);
  }
  context.notify();
}

/**
 * A run that has itself moved its issue to where it is now has a few words left to say and is not cut off (seed 4:
 * respect the agent's decision). Where somebody else moved it further, the run is stopped like any other.
 */
function isHandingOver({ clock }: OrchestratorContext, { ownMove }: RunningEntry, fresh: Issue | undefined): boolean {
  if (ownMove === null || fresh === undefined || normalizeState(fresh.state) !== ownMove.to) return false;
  return clock.monotonic() - ownMove.atMonotonic < handOverMs;
}

/**
 * A question is answered by moving the issue. What a person holds stays held until a person says so or the issue is over;
 * an agent that may be alive holds its issue until a person says that it is not.
 */
function endsHold(code: string | undefined, reason: StopReason): boolean {
  if (code === 'agent_survives') return false;
  return code !== 'person' || reason === 'terminal_state' || reason === 'issue_missing';
}
