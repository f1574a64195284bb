import { changesPageSize } from '../call/documents.ts';
import type { ChangesWish } from '../look-at-project.ts';
import type { Kept } from './kept-snapshot.ts';
import { overlapMs } from './linear-time.ts';
import { type Moment, msBetween } from './moment.ts';

/** What is kept, with something that can be asked for by it. */
export interface Known extends Kept {
  readonly newest: number;
}

/**
 * How the changes are looked for; null: everything is read instead, because that is shorter. What must hold:
 *
 * - All changes that are newer than the newest one known are read, or everything is. Only while everything may not be
 *   read just now, fewer will do: then it is owed (`Kept.isBehind`).
 * - What Linear shows late is looked for with each poll where that takes one page, and otherwise, such as after an import,
 *   once when the time in which it may show is over: a great change is read twice, not again and again.
 */
export function nextLook(kept: Known, now: Moment, mayReadAll: boolean): ChangesWish | null {
  const { newest, sureFrom, unsure, lookedBackAt, pagesOfFullRead, isBehind } = kept;
  // More pages than half a full read has: then that is the shorter way.
  const mostPages = Math.max(1, Math.floor(pagesOfFullRead / 2));
  const isTimeToLookBack = msBetween(lookedBackAt, now) >= overlapMs;
  const isEnough = (oldest: number | null): boolean => !mayReadAll || (!isTimeToLookBack && hasAllNew(kept, oldest));
  const back = { since: sureFrom, expected: unsure, mostPages, isEnough };
  const onlyNew = { since: newest + 1, expected: 0, mostPages, isEnough };

  if (isBehind) return { ...onlyNew, expected: changesPageSize, mostPages: 1 };
  if (unsure <= changesPageSize) return back;
  if (!isTimeToLookBack) return onlyNew;
  if (Math.ceil(unsure / changesPageSize) <= mostPages) return back;
  return mayReadAll ? null : onlyNew;
}

/** Whether a look that came down to this change has passed all that are new; another one may be as old as the newest. */
export function hasAllNew({ newest }: Known, oldest: number | null): boolean {
  return oldest !== null && oldest < newest;
}
