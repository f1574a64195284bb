import { isAskedHold } from '../../core/command/asked-hold.ts';
import { type Issue, normalizeState } from '../../core/issue/issue.ts';
import { decideAboutRun } from '../../core/run/reconcile-decision.ts';
import type { StopReason } from '../../core/run/run.ts';
import type { Settings } from '../../core/settings.ts';
import type { Retrying, Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from './candidates.ts';

export interface ReconcileParts extends Pick<BaseParts, 'clock' | 'logger'> {
  readonly claims: Claims;
  readonly candidates: Candidates;
  readonly stopRun: (running: Running, reason: StopReason) => void;
  /** The issue is nobody's any more. */
  readonly givenBack: (issue: Issue) => void;
  /** A retry whose issue is not to be done any more, or is gone: its claim ends now. */
  readonly endRetry: (retrying: Retrying, fresh: Issue | null) => Promise<void>;
}

/** How long a run may go on after it moved its own issue out of the active states. */
const handOverMs = 60_000;

/** What was claimed when the tracker was asked. */
export interface ClaimedBefore {
  /** What runs, and what is held. */
  readonly ids: readonly string[];
  readonly running: ReadonlyMap<string, Running>;
  readonly retrying: ReadonlyMap<string, Retrying>;
}

export function claimedBefore({ running, held, retrying }: Claims): ClaimedBefore {
  return { ids: [...running.keys(), ...held.keys()], running: new Map(running), retrying: new Map(retrying) };
}

/**
 * Part B of reconciliation (seed 2): stops the runs whose issue ended, moved away or vanished, and keeps the record of the
 * others; an issue that is held or retrying and left the active states is given back. `fresh` has an issue, null for one
 * that is gone, and nothing for one that could not be read: that one stays as it is.
 */
export async function applyRefresh(
  parts: ReconcileParts,
  before: ClaimedBefore,
  fresh: ReadonlyMap<string, Issue | null>,
  settings: Settings,
): Promise<void> {
  for (const id of before.ids) {
    const issue = fresh.get(id);
    if (issue !== undefined) await applyTo(parts, id, issue, { was: before.running.get(id), settings });
  }
  // What they wait for, a quota or a trial, may take hours; that an issue is over is known now.
  for (const [id, retrying] of before.retrying) {
    const issue = fresh.get(id);
    if (issue !== undefined && decideAboutRun(issue, settings.tracker).action === 'stop')
      await parts.endRetry(retrying, issue);
  }
}

async function applyTo(
  parts: ReconcileParts,
  id: string,
  issue: Issue | null,
  { was, settings }: { readonly was: Running | undefined; readonly settings: Settings },
): Promise<void> {
  const { claims, candidates, stopRun } = parts;
  const decision = decideAboutRun(issue, settings.tracker);
  // A run that ended while the tracker was asked is past; one that began meanwhile was read later than this.
  const running = claims.running.get(id) === was ? was : undefined;
  if (decision.action === 'keep') {
    if (running !== undefined) claims.refresh(running, decision.issue);
    return;
  }
  if (running !== undefined && !isHandingOver(parts, running, issue)) {
    if (issue !== null) {
      claims.refresh(running, issue);
      candidates.countReview(id, issue.state);
    }
    stopRun(running, decision.reason);
  }
  if (endsHold(claims.held.get(id)?.code, decision.reason)) await liftHold(parts, id, issue);
}

/** One that cannot be lifted now is met again by the next poll; the other issues do not wait for it. */
async function liftHold({ claims, logger, givenBack }: ReconcileParts, id: string, issue: Issue | null): Promise<void> {
  const held = claims.held.get(id);
  if (held === undefined) return;
  try {
    const isReleased = await claims.release(id, { byPerson: false, only: held });
    if (isReleased && issue !== null) givenBack(issue);
  } catch (error) {
    logger.warn('hold_release_failed', { issue_id: id, error });
  }
}

/**
 * A run that has itself moved its issue to where it is now has a few words left to say and is not cut off (seed 4:
 * respect the agent's decision). Where somebody else moved it further, the run is stopped like any other.
 */
function isHandingOver({ clock }: ReconcileParts, { ownMove }: Running, fresh: Issue | null): boolean {
  if (ownMove === null || fresh === null) return false;
  if (ownMove.to !== null && normalizeState(fresh.state) !== ownMove.to) return false;
  return clock.monotonic() - ownMove.atMonotonic < handOverMs;
}

/**
 * A question is answered by moving the issue. What a person holds, or has taken over, stays held until a person releases
 * it or the issue is over; an agent that may be alive holds its issue until a person says that it is not.
 */
function endsHold(code: string | undefined, reason: StopReason): boolean {
  if (code === undefined || code === 'agent_survives') return false;
  return !(isAskedHold(code) || code === 'taken_over') || reason === 'terminal_state' || reason === 'issue_missing';
}
