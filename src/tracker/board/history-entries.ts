import type { Author } from '../../core/issue/author.ts';
import type { BoardHistoryEntry } from '../../store/tables/board-history.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';

/**
 * An issue as history stores it: JSON values, other issues by identifier. `created` holds all fields; every later entry
 * holds one field, so that applying the entries in order yields the present issue.
 */
export interface IssueFacts {
  readonly title: string;
  readonly description: string | null;
  readonly status: string;
  readonly priority: number | null;
  readonly labels: readonly string[];
  readonly parent: string | null;
  readonly branch: string | null;
  readonly url: string | null;
  readonly blocked_by: readonly string[];
}

/** Who did it, when and why: the same for each entry of one change. */
export interface ChangeStamp {
  readonly author: Author;
  readonly reason: string | null;
  readonly at: number;
}

type Entry = Omit<BoardHistoryEntry, 'seq'>;

/** Labels and blockers are sets: they are sorted, so that the same set is the same value. */
export function issueFacts(issue: BoardIssue, parent: string | null): IssueFacts {
  const { title, description, status, priority, branch, url } = issue;
  const labels = issue.labels.toSorted();
  const blocked_by = issue.blockers.map(({ identifier }) => identifier).toSorted();
  return { title, description, status, priority, labels, parent, branch, url, blocked_by };
}

export function createdEntry(facts: IssueFacts, stamp: ChangeStamp): Entry {
  return { ...stamp, field: 'created', from: null, to: facts };
}

/** Returns one entry for each field that differs. */
export function changeEntries(before: IssueFacts, after: IssueFacts, stamp: ChangeStamp): Entry[] {
  const fields = Object.keys(after) as (keyof IssueFacts)[];
  return fields
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
    .map((field) => ({ ...stamp, field, from: before[field], to: after[field] }));
}
