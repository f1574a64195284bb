import type { Issue } from '../issue/issue.ts';
import { type Role, roleRank } from '../run/role.ts';

type Sorted = Pick<Issue, 'priority' | 'createdAt' | 'identifier'>;

/** The issues in the order of their start. */
export function inDispatchOrder(issues: readonly Issue[], roleOf: (issue: Issue) => Role = () => 'worker'): Issue[] {
  return inStartOrder(issues, (issue) => placeOf(issue, issue, roleOf(issue)));
}

/** Retries that wait, in the same order. One whose issue was not read yet has no priority and no age. */
export function retriesInOrder<R extends { readonly issue: Pick<Issue, 'identifier'> }>(
  retries: readonly R[],
  roleOf: (retry: R) => Role,
  lastRead: (retry: R) => Issue | null,
): R[] {
  return inStartOrder(retries, (retry) =>
    placeOf(retry, lastRead(retry) ?? { ...retry.issue, priority: null, createdAt: null }, roleOf(retry)),
  );
}

/** The sort keys are read once per item, not once per comparison. */
function inStartOrder<T>(items: readonly T[], placeFor: (item: T) => Place<T>): T[] {
  return items
    .map(placeFor)
    .sort(comparePlaces)
    .map(({ item }) => item);
}

/** The order in which issues are started: by role; priority 1 to 4, then everything else; oldest first; by identifier. */
export function compareForDispatch(left: Issue, right: Issue): number {
  return comparePlaces(placeOf(left, left), placeOf(right, right));
}

/** A lower one starts earlier. Only 1 to 4 are priorities. */
export function dispatchRank(priority: number | null): number {
  return priority !== null && Number.isInteger(priority) && priority >= 1 && priority <= 4 ? priority : 5;
}

interface Place<T> {
  readonly role: number;
  readonly rank: number;
  readonly createdAt: number;
  readonly identifier: string;
  readonly item: T;
}

function placeOf<T>(item: T, { priority, createdAt, identifier }: Sorted, role: Role = 'worker'): Place<T> {
  return {
    role: roleRank(role),
    rank: dispatchRank(priority),
    // NaN counts as unknown; otherwise the order would depend on the order of arrival.
    createdAt: createdAt === null || Number.isNaN(createdAt) ? Number.POSITIVE_INFINITY : createdAt,
    identifier,
    item,
  };
}

function comparePlaces(left: Place<unknown>, right: Place<unknown>): number {
  if (left.role !== right.role) return left.role - right.role;
  if (left.rank !== right.rank) return left.rank - right.rank;
  // Not a subtraction: two unknown times are infinite, and their difference is NaN.
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? -1 : 1;
  // By code unit, so that every machine sorts alike in every locale.
  if (left.identifier === right.identifier) return 0;
  return left.identifier < right.identifier ? -1 : 1;
}
