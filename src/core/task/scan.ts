import { whyNotCandidate } from '../dispatch/eligibility.ts';
import { type Issue, isInOneOf } from '../issue/issue.ts';
import type { Settings } from '../settings.ts';
import { issuesIn } from './proposal.ts';
import { newTaskId, type Task } from './task.ts';

/** An accepted proposal of a scan has this label. Baton never promotes an issue with it: a person does. */
export const proposedLabel = 'proposed';

/** Where an accepted proposal of a scan is filed. */
export const proposedState = 'backlog';

/** What decides about a scan. Null is what Baton does not know, and then there is none. */
export interface ScanFacts {
  readonly now: number;
  /** Whether the budget of the role allows a run now; `none`: there is no limit on it, so that it must not begin by itself. */
  readonly budget: 'free' | 'used' | 'none';
  /** Baton could start an agent: it has read its tracker, its file has no mistake, and neither a person nor a limit forbids it. */
  readonly isReady: boolean;
  /** Something is running, waits to be tried again or is held, on any daemon of the store. */
  readonly isBusy: boolean;
  /** All issues that are not finished. */
  readonly open: readonly Issue[] | null;
  /** The latest scans, the newest first; at least `scansToRead` if there are as many. */
  readonly scans: readonly Task[];
}

/** The longest pause is 64 times the first. */
const mostDoublings = 6;

/** How many scans tell the length of the pause. */
export const scansToRead = mostDoublings + 1;

export type NoScan =
  /** `scanner.enabled` is not set. */
  | 'off'
  /** The budget has no limit. */
  | 'unlimited'
  | 'budget_used'
  /** A scan waits for its agent or for a person. */
  | 'undecided'
  | 'cooldown'
  | 'not_ready'
  | 'busy'
  /** Baton cannot read all open issues. */
  | 'unknown'
  /** There is an issue that an agent could work on. */
  | 'work'
  | 'backlog_full';

/**
 * Why no scan begins by itself; null: one is due. Seed 4: no todo work, and a backlog below ten. It fails closed, and is
 * slower after each scan that was of no use: without that, an agent would invent work for agents for ever.
 */
export function whyNoScan({ scanner, tracker }: ScanSettings, facts: ScanFacts): NoScan | null {
  const { now, open, scans, isBusy, isReady } = facts;
  const refused = whyNoScanNow(scanner, facts);
  if (refused !== null) return refused;
  if (now < scanAllowedFrom(scanner.cooldownMs, scans)) return 'cooldown';
  if (!isReady) return 'not_ready';
  if (isBusy) return 'busy';
  if (open === null) return 'unknown';
  if (open.some((issue) => whyNotCandidate(issue, tracker) === null)) return 'work';
  return backlogOf(open, tracker) < scanner.maxBacklog ? null : 'backlog_full';
}

/** The same where a person asks for a scan: they know whether there is other work. */
export function whyNoScanNow(
  { enabled }: Pick<Settings['scanner'], 'enabled'>,
  { budget, scans }: Pick<ScanFacts, 'budget' | 'scans'>,
): NoScan | null {
  if (!enabled) return 'off';
  if (budget === 'none') return 'unlimited';
  if (scans.some(isUndecided)) return 'undecided';
  return budget === 'used' ? 'budget_used' : null;
}

export type ScanSettings = Pick<Settings, 'scanner' | 'tracker'>;

/** Issues that are neither finished nor in review, and that no agent could work on now. */
export function backlogOf(open: readonly Issue[], tracker: Settings['tracker']): number {
  const [isFinished, isInReview] = [isInOneOf(tracker.terminalStates), isInOneOf(tracker.reviewStates)];
  return open.filter((issue) => !isFinished(issue) && !isInReview(issue) && whyNotCandidate(issue, tracker) !== null)
    .length;
}

/** When the pause after the newest scan ends. */
export function scanAllowedFrom(cooldownMs: number, scans: readonly Task[]): number {
  const [last] = scans;
  return last === undefined ? 0 : last.changedAt + cooldownMs * 2 ** Math.min(uselessInARow(scans), mostDoublings);
}

function uselessInARow(scans: readonly Task[]): number {
  const useful = scans.findIndex(({ proposal }) => issuesIn(proposal).some(({ decision }) => decision === 'accepted'));
  return useful < 0 ? scans.length : useful;
}

/** One that proposed nothing has nothing to decide about. */
export function isUndecided({ status, proposal }: Task): boolean {
  const isOpen = issuesIn(proposal).some(({ decision }) => decision === 'open');
  return status === 'waiting' || (status === 'proposed' && isOpen);
}

/** The id of the scan after these: two daemons that begin it at the same time, or one again after a crash, begin the same one. */
export function nextScanId(scans: readonly Task[], now: number): string {
  return newTaskId('scan', (scans[0]?.createdAt ?? now - (now % dayMs)).toString(36));
}

const dayMs = 24 * 3_600_000;
