import { type Issue, normalizeState } from '../../../core/issue/issue.ts';
import type { Snapshot } from '../../tracker.ts';
import { type DispatchRules, isBlocked, toIssue } from '../read/to-issue.ts';
import type { ClockReading } from './clock-reading.ts';
import type { CollectedRecords } from './collected-records.ts';
import type { LinearTime } from './linear-time.ts';
import { blockerStates, mergeIssues, sameList, sameOr } from './merge-issues.ts';

/** The state that is kept from poll to poll. It is replaced as a whole, after a complete read. */
export interface PollState {
  /** Normalised, sorted. */
  readonly states: readonly string[];
  readonly rules: DispatchRules;
  /** Every issue in these states. */
  readonly issues: readonly Issue[];
  /** Every watched issue that exists: an unchanged record stays the same object. */
  readonly watched: ReadonlyMap<string, Issue>;
  /**
   * The newest change that was seen, by Linear's time; null when there was none, so changes cannot be requested by
   * time.
   */
  readonly newest: number | null;
  /**
   * Everything that changed before this time of Linear's was read, late changes included. A read of late changes begins
   * here.
   */
  readonly settledUntil: number;
  /** The known number of changes since then. */
  readonly unsettled: number;
  /** When all changes since then were last read. */
  readonly lateReadAt: ClockReading;
  /** A lower bound for Linear's clock. */
  readonly linearTime: LinearTime | null;
  /** More changed than was read: only a full read can catch up. */
  readonly isBehind: boolean;
  readonly fullReadAt: ClockReading;
  readonly pagesOfFullRead: number;
  /** The blocked issue that rode along last; the next poll continues after it. */
  readonly lastRider: string | null;
  /** Issues that were seen to be gone, with the time of their last change: the issues they blocked were read since. */
  readonly gone: CollectedRecords['gone'];
}

/** The blocked issues that are due for a re-read, at most `limit` of them. */
export function nextBlocked(
  { issues, rules, lastRider }: PollState,
  except: ReadonlySet<string>,
  limit: number,
): string[] {
  const blocked = issues.filter((issue) => isBlocked(issue, rules) && !except.has(issue.id)).map(({ id }) => id);
  const from = lastRider === null ? 0 : blocked.indexOf(lastRider) + 1;
  return [...blocked.slice(from), ...blocked.slice(0, from)].slice(0, Math.max(0, limit));
}

/** Issues that this read did not cover, and whose blocker is gone since the last read. */
export function leftByGone(kept: PollState, { records, gone }: CollectedRecords): string[] {
  const isNew = (id: string | null): boolean =>
    id !== null && gone.has(id) && (!kept.gone.has(id) || kept.gone.get(id) !== gone.get(id));
  return kept.issues
    .filter(({ id, blockedBy }) => !records.has(id) && blockedBy.some((blocker) => isNew(blocker.id)))
    .map(({ id }) => id);
}

/** The snapshot from the kept state and the newly read records. Without `kept`, the records are everything. */
export function snapshotFrom(
  kept: Pick<PollState, 'issues' | 'watched'> | null,
  { records, order, unreadable }: CollectedRecords,
  request: { readonly states: readonly string[]; readonly watched: readonly string[]; readonly rules: DispatchRules },
  earlier: Pick<PollState, 'issues' | 'watched'> | null,
): Snapshot {
  const { rules } = request;
  const states = new Set(request.states);
  const isWanted = ({ state }: Issue): boolean => states.has(normalizeState(state));
  const known = new Map([
    ...(earlier?.watched ?? []),
    ...(earlier?.issues ?? []).map((issue) => [issue.id, issue] as const),
  ]);
  const seen = new Map(
    [...records].map(([id, record]) => {
      const isThere = record !== null && !record.isArchivedOrDeleted;
      return [id, isThere ? sameOr(known.get(id), toIssue(record, rules)) : null];
    }),
  );
  const base = kept?.issues ?? order.flatMap((id) => seen.get(id) ?? []).filter(isWanted);
  const merged = mergeIssues(base, seen, blockerStates(records.values()), rules, isWanted);
  const issues = sameList(earlier?.issues ?? [], merged);
  const readable = request.watched.filter((id) => !unreadable.has(id));
  return {
    issues,
    watched: new Map(readable.map((id) => [id, seen.get(id) ?? null])),
    ...(kept === null ? {} : { seen: new Set(issues.flatMap(({ id }) => (seen.has(id) ? id : []))) }),
  };
}
