import { type Issue, normalizeState } from '../../../core/issue/issue.ts';
import type { Snapshot } from '../../tracker.ts';
import { type DispatchRules, isBlocked, toIssue } from '../read/to-issue.ts';
import type { LinearTime } from './linear-time.ts';
import { blockerStates, mergeSightings, sameList, sameOr } from './merge-sightings.ts';
import type { Moment } from './moment.ts';
import type { Sighted } from './sighted.ts';

/** What is kept from poll to poll. It is replaced as a whole, after a read that came to its end. */
export interface Kept {
  /** Normalised, sorted. */
  readonly states: readonly string[];
  readonly rules: DispatchRules;
  /** Every issue in these states. */
  readonly issues: readonly Issue[];
  /** Every watched issue that there is: the same record stays the same object. */
  readonly watched: ReadonlyMap<string, Issue>;
  /** The newest change that was seen, by Linear's time; null: there was none, so nothing can be asked for by it. */
  readonly newest: number | null;
  /** Whatever changed before this time of Linear's has been read, also what showed late. A look back begins here. */
  readonly sureFrom: number;
  /** How many changes there have been since then, as far as is known. */
  readonly unsure: number;
  /** When everything since then was read last. */
  readonly lookedBackAt: Moment;
  /** What Linear's clock said at least. */
  readonly linearTime: LinearTime | null;
  /** More has changed than was read: only a full read brings it. */
  readonly isBehind: boolean;
  readonly fullReadAt: Moment;
  readonly pagesOfFullRead: number;
  /** The blocked issue that rode along last; the next ones come after it. */
  readonly lastRider: string | null;
  /** What was seen to be gone, and when it changed last: what it blocked has been read since. */
  readonly gone: Sighted['gone'];
}

/** Blocked issues whose turn it is to be looked at, at most so many. */
export function nextBlocked({ issues, rules, lastRider }: Kept, except: ReadonlySet<string>, room: number): string[] {
  const blocked = issues.filter((issue) => isBlocked(issue, rules) && !except.has(issue.id)).map(({ id }) => id);
  const from = lastRider === null ? 0 : blocked.indexOf(lastRider) + 1;
  return [...blocked.slice(from), ...blocked.slice(0, from)].slice(0, Math.max(0, room));
}

/** Issues that were not seen, and that something blocked which is gone since the last read. */
export function leftByGone(kept: Kept, { records, gone }: Sighted): string[] {
  const isNew = (id: string | null): boolean =>
    id !== null && gone.has(id) && (!kept.gone.has(id) || kept.gone.get(id) !== gone.get(id));
  return kept.issues
    .filter(({ id, blockedBy }) => !records.has(id) && blockedBy.some((blocker) => isNew(blocker.id)))
    .map(({ id }) => id);
}

/** The snapshot that follows from what was kept and what was seen since. Without `kept` what was seen is everything. */
export function snapshotFrom(
  kept: Pick<Kept, 'issues' | 'watched'> | null,
  { records, order, unreadable }: Sighted,
  wish: { readonly states: readonly string[]; readonly watched: readonly string[]; readonly rules: DispatchRules },
  earlier: Pick<Kept, 'issues' | 'watched'> | null,
): Snapshot {
  const { rules } = wish;
  const states = new Set(wish.states);
  const isWished = ({ state }: Issue): boolean => states.has(normalizeState(state));
  const known = new Map([
    ...(earlier?.watched ?? []),
    ...(earlier?.issues ?? []).map((issue) => [issue.id, issue] as const),
  ]);
  const seen = new Map(
    [...records].map(([id, record]) => {
      const isThere = record !== null && !record.isPutAway;
      return [id, isThere ? sameOr(known.get(id), toIssue(record, rules)) : null];
    }),
  );
  const base = kept?.issues ?? order.flatMap((id) => seen.get(id) ?? []).filter(isWished);
  const merged = mergeSightings(base, seen, blockerStates(records.values()), rules, isWished);
  const issues = sameList(earlier?.issues ?? [], merged);
  const readable = wish.watched.filter((id) => !unreadable.has(id));
  return {
    issues,
    watched: new Map(readable.map((id) => [id, seen.get(id) ?? null])),
    ...(kept === null ? {} : { seen: new Set(issues.flatMap(({ id }) => (seen.has(id) ? id : []))) }),
  };
}
