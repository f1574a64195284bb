import { changesPageSize } from '../call/documents.ts';
import type { ChangesRequest } from '../read/read-project.ts';
import { type ClockReading, msBetween } from './clock-reading.ts';
import { overlapMs } from './linear-time.ts';
import type { PollState } from './poll-state.ts';

/** A kept state with a newest change, so that changes since then can be requested. */
export interface Known extends PollState {
  readonly newest: number;
}

/**
 * How to read the changes; null when a full read is shorter. What must hold:
 *
 * - All changes newer than the newest known one are read, or everything is. Only while a full read is not allowed,
 *   fewer are enough: then the full read is owed (`PollState.isBehind`).
 * - Changes that Linear shows late are read with each poll where that takes one page. Otherwise, such as after an
 *   import, they are read once when none can appear any more: a large change is read twice, not with every poll.
 */
export function nextChangesRead(kept: Known, now: ClockReading, mayReadAll: boolean): ChangesRequest | null {
  const { newest, settledUntil, unsettled, lateReadAt, pagesOfFullRead, isBehind } = kept;
  // With more pages than half of a full read, the full read is shorter.
  const mostPages = Math.max(1, Math.floor(pagesOfFullRead / 2));
  const isLateReadDue = msBetween(lateReadAt, now) >= overlapMs;
  const isEnough = (oldest: number | null): boolean => !mayReadAll || (!isLateReadDue && hasAllNew(kept, oldest));
  const back = { since: settledUntil, expected: unsettled, mostPages, isEnough };
  const onlyNew = { since: newest + 1, expected: 0, mostPages, isEnough };

  if (isBehind) return { ...onlyNew, expected: changesPageSize, mostPages: 1 };
  if (unsettled <= changesPageSize) return back;
  if (!isLateReadDue) return onlyNew;
  if (Math.ceil(unsettled / changesPageSize) <= mostPages) return back;
  return mayReadAll ? null : onlyNew;
}

/** Whether a read down to this change has passed all new ones; another change may have the same time as the newest. */
export function hasAllNew({ newest }: Known, oldest: number | null): boolean {
  return oldest !== null && oldest < newest;
}
