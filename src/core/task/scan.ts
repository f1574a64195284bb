import { whyNotCandidate } from '../dispatch/eligibility.ts';
import { type Issue, isInOneOf } from '../issue/issue.ts';
import type { Settings } from '../settings.ts';
import { type NoOwnTask, type OwnTaskFacts, whyNoOwnTask } from './own-task.ts';
import { issuesIn } from './proposal.ts';
import type { Task } from './task.ts';

/** An accepted proposal of a scan has this label. Baton never promotes an issue with it: a person does. */
export const proposedLabel = 'proposed';

/** Where an accepted proposal of a scan is filed. */
export const proposedState = 'backlog';

/** What decides about a scan. Null is what Baton does not know, and then there is none. */
export interface ScanFacts extends OwnTaskFacts {
  readonly now: number;
  /** Baton could start an agent: it has read its tracker, its file has no mistake, and neither a person nor a limit forbids it. */
  readonly isReady: boolean;
  /** Something is running, waits to be tried again or is held, on any daemon of the store. */
  readonly isBusy: boolean;
  /** All issues that are not finished. */
  readonly open: readonly Issue[] | null;
  /** The latest scans, the newest first; at least `scansToRead` if there are as many. */
  readonly tasks: readonly Task[];
}

/** The longest pause is 64 times the first. */
const mostDoublings = 6;

/** How many scans tell the length of the pause. */
export const scansToRead = mostDoublings + 1;

export type NoScan =
  | NoOwnTask
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
  const { now, open, tasks, isBusy, isReady } = facts;
  const refused = whyNoOwnTask(scanner, facts);
  if (refused !== null) return refused;
  if (now < scanAllowedFrom(scanner.cooldownMs, tasks)) return 'cooldown';
  if (!isReady) return 'not_ready';
  if (isBusy) return 'busy';
  if (open === null) return 'unknown';
  if (open.some((issue) => whyNotCandidate(issue, tracker) === null)) return 'work';
  return backlogOf(open, tracker) < scanner.maxBacklog ? null : 'backlog_full';
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
