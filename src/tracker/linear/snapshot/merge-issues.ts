import type { Issue } from '../../../core/issue/issue.ts';
import type { LinearRecord } from '../read/linear-record.ts';
import { type BlockerStates, type DispatchRules, withBlockers } from '../read/to-issue.ts';

/** The issues of a read, by id. Null: the issue does not exist, or its record is unusable. */
export type ReadIssues = ReadonlyMap<string, Issue | null>;

/**
 * The known issues, updated with the newly read ones, in their order. What must hold:
 *
 * - A newly read issue is as it was read: updated, removed when it is no longer wanted, inserted by age when it is new.
 * - An issue that was not read stays the same object, unless one of its blockers was read in another state.
 * - When nothing changed, the result is the same list.
 */
export function mergeIssues(
  known: readonly Issue[],
  seen: ReadIssues,
  blockers: BlockerStates,
  rules: DispatchRules,
  isWanted: (issue: Issue) => boolean,
): readonly Issue[] {
  const ids = new Set(known.map(({ id }) => id));
  const next = known.flatMap((issue) => {
    const now = seen.get(issue.id);
    if (now === undefined) return withBlockers(issue, blockers, rules);
    return now !== null && isWanted(now) ? sameOr(issue, now) : [];
  });
  for (const issue of seen.values()) {
    if (issue !== null && !ids.has(issue.id) && isWanted(issue)) insertByAge(next, issue);
  }
  return sameList(known, next);
}

/** Returns the known list if the new one holds the same objects. */
export function sameList(known: readonly Issue[], now: readonly Issue[]): readonly Issue[] {
  return now.length === known.length && now.every((issue, index) => issue === known[index]) ? known : now;
}

/** Returns the known object if the new one has the same content. */
export function sameOr(known: Issue | undefined, now: Issue): Issue {
  return known !== undefined && JSON.stringify(known) === JSON.stringify(now) ? known : now;
}

/** The states of records, for the issues that they block. Archived records are included: they still block. */
export function blockerStates(records: Iterable<LinearRecord | null>): BlockerStates {
  return new Map(
    [...records].flatMap((record) =>
      record === null ? [] : [[record.id, { identifier: record.identifier, state: record.state }]],
    ),
  );
}

/** Linear lists the newest first. */
function insertByAge(issues: Issue[], issue: Issue): void {
  const age = issue.createdAt ?? Number.NEGATIVE_INFINITY;
  const at = issues.findIndex(({ createdAt }) => (createdAt ?? Number.NEGATIVE_INFINITY) < age);
  issues.splice(at === -1 ? issues.length : at, 0, issue);
}
