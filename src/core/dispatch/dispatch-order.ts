import type { Issue } from '../issue/issue.ts';

/** The issues in the order of their start. The sort keys are read once per issue, not once per comparison. */
export function inDispatchOrder(issues: readonly Issue[]): Issue[] {
  return issues
    .map(placeOf)
    .sort(comparePlaces)
    .map(({ issue }) => issue);
}

/** The order in which issues are started: priority 1 to 4, then everything else; oldest first; then by identifier. */
export function compareForDispatch(left: Issue, right: Issue): number {
  return comparePlaces(placeOf(left), placeOf(right));
}

interface Place {
  readonly rank: number;
  readonly createdAt: number;
  readonly identifier: string;
  readonly issue: Issue;
}

function placeOf(issue: Issue): Place {
  const { priority, createdAt, identifier } = issue;
  return {
    rank: priority !== null && Number.isInteger(priority) && priority >= 1 && priority <= 4 ? priority : 5,
    // NaN counts as unknown; otherwise the order would depend on the order of arrival.
    createdAt: createdAt === null || Number.isNaN(createdAt) ? Number.POSITIVE_INFINITY : createdAt,
    identifier,
    issue,
  };
}

function comparePlaces(left: Place, right: Place): number {
  if (left.rank !== right.rank) return left.rank - right.rank;
  // Not a subtraction: two unknown times are infinite, and their difference is NaN.
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? -1 : 1;
  // By code unit, so that every machine sorts alike in every locale.
  if (left.identifier === right.identifier) return 0;
  return left.identifier < right.identifier ? -1 : 1;
}
