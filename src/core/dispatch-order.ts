import type { Issue } from './issue.ts';

/** The order in which issues are started: priority 1 to 4, then everything else; oldest first; then by identifier. */
export function compareForDispatch(left: Issue, right: Issue): number {
  return (
    rank(left.priority) - rank(right.priority) ||
    compareNumbers(left.createdAt ?? Number.POSITIVE_INFINITY, right.createdAt ?? Number.POSITIVE_INFINITY) ||
    compareText(left.identifier, right.identifier)
  );
}

function rank(priority: number | null): number {
  return priority !== null && Number.isInteger(priority) && priority >= 1 && priority <= 4 ? priority : 5;
}

/** Not a subtraction: two unknown times are infinite, and their difference is no number. */
function compareNumbers(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** By code unit, so that every machine sorts alike whatever its language. */
function compareText(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
