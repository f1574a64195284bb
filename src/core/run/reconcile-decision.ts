import { isAskedHold } from '../command/asked-hold.ts';
import { trackerRules, whyNotRoutable } from '../dispatch/eligibility.ts';
import type { Issue } from '../issue/issue.ts';
import type { TrackerSettings } from '../settings.ts';
import type { Role } from './role.ts';
import type { StopReason } from './run.ts';

/** What a fresh read of the tracker means for a run in progress (seed 1, State Refresh; specification 8.5). */
export type ReconcileDecision =
  | { readonly action: 'keep'; readonly issue: Issue }
  | { readonly action: 'stop'; readonly reason: StopReason };

/** `fresh` is the issue as just read, or null when the tracker does not have it any more. */
export function decideAboutRun(
  fresh: Issue | null,
  tracker: TrackerSettings,
  role: Role = 'worker',
): ReconcileDecision {
  if (fresh === null) return { action: 'stop', reason: 'issue_missing' };
  const { class: found, isReview } = trackerRules(tracker).stateOf(fresh.state);
  if (found === 'terminal') return { action: 'stop', reason: 'terminal_state' };
  if (role === 'judge' ? !isReview : found === 'other') return { action: 'stop', reason: 'inactive_state' };
  if (whyNotRoutable(fresh, tracker, role) !== null) return { action: 'stop', reason: 'not_routable' };
  return { action: 'keep', issue: fresh };
}

/**
 * Whether an issue that is not to be worked on any more leaves its hold. Moving the issue answers a question. An issue
 * that a person holds or has taken over stays held until a person releases it or it finishes. An agent that may be alive
 * holds its issue until a person confirms that it is gone. A change that was closed at its host leaves its issue where it
 * is, in review, so the question about it stays until a person moves the issue to an active state.
 */
export function endsHold(code: string | undefined, reason: StopReason): boolean {
  if (code === undefined || code === 'agent_survives') return false;
  const stays = isAskedHold(code) || code === 'taken_over' || code === 'pull_closed';
  return !stays || reason === 'terminal_state' || reason === 'issue_missing';
}

/** Whether a run has been silent for too long: since its last event, or since its start when it never had one. */
export function isStalled(
  run: { startedAt: number; lastEventAt: number | null },
  nowMs: number,
  stallTimeoutMs: number,
): boolean {
  if (stallTimeoutMs <= 0) return false;
  return nowMs - (run.lastEventAt ?? run.startedAt) > stallTimeoutMs;
}
