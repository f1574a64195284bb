import { type Issue, isInOneOf, normalizeState } from '../../core/issue/issue.ts';
import { decideAboutRun, endsHold } from '../../core/run/reconcile-decision.ts';
import type { StopReason } from '../../core/run/run.ts';
import type { Settings } from '../../core/settings.ts';
import type { Retrying, Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { HandDeliveries } from '../review/deliver-by-hand.ts';
import type { Candidates } from './candidates.ts';

export interface ReconcileParts extends Pick<BaseParts, 'clock' | 'logger' | 'project' | 'store'> {
  readonly claims: Claims;
  readonly candidates: Candidates;
  readonly stopRun: (running: Running, reason: StopReason) => void;
  /** Called when the claim of this issue was released. */
  readonly onReleased: (issue: Issue) => void;
  /** The issue of a retry is gone, or no agent should work on it any more: its claim ends now. */
  readonly handDeliveries: HandDeliveries;
  readonly endRetry: (retrying: Retrying, fresh: Issue | null) => Promise<void>;
}

/** How long a run may continue after it moved its own issue out of the active states. */
const handOverMs = 60_000;

/** The claims at the moment when the tracker was asked. */
export interface ClaimedBefore {
  /** The issues that run or are held. */
  readonly ids: readonly string[];
  readonly running: ReadonlyMap<string, Running>;
  readonly retrying: ReadonlyMap<string, Retrying>;
}

export function claimedBefore({ running, held, retrying }: Claims): ClaimedBefore {
  return { ids: [...running.keys(), ...held.keys()], running: new Map(running), retrying: new Map(retrying) };
}

/**
 * Part B of reconciliation (seed 2): stops the runs whose issue ended, moved away or vanished, and updates the record
 * of the others; releases a held or retrying issue that left the active states. `fresh` has the issue, null for one
 * that is gone, and no entry for one that could not be read: that one stays as it is.
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
  // A retry may wait hours for a quota or a trial, but that its issue has finished is known now.
  for (const [id, retrying] of before.retrying) {
    const issue = fresh.get(id);
    if (issue !== undefined && decideAboutRun(issue, settings.tracker, retrying.role).action === 'stop')
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
  const decision = decideAboutRun(issue, settings.tracker, was?.role ?? claims.held.get(id)?.role);
  // A run that ended while the tracker was asked is past; one that began meanwhile has a newer record than this.
  const running = claims.running.get(id) === was ? was : undefined;
  if (decision.action === 'keep') {
    if (running !== undefined) claims.refresh(running, decision.issue);
    // A hold that began while the tracker was asked is newer than this record.
    else if (was === undefined && (await isMovedBack(parts, id))) await liftHold(parts, id, null);
    return;
  }
  if (running !== undefined && !isHandingOver(parts, running, issue)) {
    if (issue !== null) {
      claims.refresh(running, issue);
      candidates.countReview(id, issue.state);
    }
    stopRun(running, decision.reason);
  }
  const held = claims.held.get(id);
  if (held === undefined) return;
  const isOver = endsHold(held.code, decision.reason);
  if (
    issue !== null &&
    held.role !== 'judge' &&
    isInOneOf(settings.tracker.reviewStates)(issue) &&
    (isOver || held.code === 'taken_over')
  ) {
    // A person who works on it by hand, and has no commit yet, continues with that.
    const orElse = async (): Promise<void> => (isOver ? liftHold(parts, id, issue) : undefined);
    parts.handDeliveries.begin(held, issue, orElse);
  } else if (isOver) await liftHold(parts, id, issue);
}

/**
 * Whether an active issue is on hold for a pull request that was closed while it stood in review: a person has moved the
 * issue back since. One that was closed while an agent had it was active all the time.
 */
async function isMovedBack({ claims, project, store }: ReconcileParts, id: string): Promise<boolean> {
  if (claims.held.get(id)?.code !== 'pull_closed') return false;
  const [pull] = await store.pullRequests.latestOfIssues(project, [id]);
  return pull !== undefined && pull.closed !== null && pull.sentBack === null && pull.movedAt !== null;
}

/** The next poll tries again to lift a hold that cannot be lifted now; the other issues do not wait for it. */
async function liftHold(
  { claims, logger, onReleased }: ReconcileParts,
  id: string,
  issue: Issue | null,
): Promise<void> {
  const held = claims.held.get(id);
  if (held === undefined) return;
  try {
    const isReleased = await claims.release(id, { byPerson: false, only: held });
    if (isReleased && issue !== null) onReleased(issue);
  } catch (error) {
    logger.warn('hold_release_failed', { issue_id: id, error });
  }
}

/**
 * A run that moved its issue to the current state itself may finish its turn (seed 4: respect the agent's decision). If
 * another user moved the issue further, the run is stopped like any other.
 */
function isHandingOver({ clock }: ReconcileParts, { ownMove }: Running, fresh: Issue | null): boolean {
  if (ownMove === null || fresh === null) return false;
  if (ownMove.to !== null && normalizeState(fresh.state) !== ownMove.to) return false;
  return clock.monotonic() - ownMove.atMonotonic < handOverMs;
}
