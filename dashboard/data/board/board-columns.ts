import type { IssueList, IssueSummary } from '../../../src/client/schema/issue.ts';

/** One status of the board, as far as it was read. */
export interface BoardColumn {
  readonly issues: readonly IssueSummary[];
  /** The cursor of the next page; null when everything was read. */
  readonly next: string | null;
  readonly isRead: boolean;
  /** How many issues the status has in all; null while only a search has counted them. */
  readonly total: number | null;
}

export type BoardColumns = ReadonlyMap<string, BoardColumn>;

const unread: BoardColumn = { issues: [], next: null, isRead: false, total: null };

export function columnOf(columns: BoardColumns, state: string): BoardColumn {
  return columns.get(state) ?? unread;
}

/** The columns with another page of one. An issue that was moved there meanwhile is not listed twice. */
export function withPage(columns: BoardColumns, state: string, page: IssueList): BoardColumns {
  const before = columnOf(columns, state);
  const known = new Set(before.issues.map(({ id }) => id));
  const issues = [...before.issues, ...page.issues.filter(({ id, state: at }) => at === state && !known.has(id))];
  const total = page.total ?? (page.next === null ? issues.length : before.total);
  return new Map(columns).set(state, { issues, next: page.next, isRead: true, total });
}

/** The columns with the count of one that is folded. */
export function withTotal(columns: BoardColumns, state: string, total: number | null): BoardColumns {
  const before = columnOf(columns, state);
  return before.total === total ? columns : new Map(columns).set(state, { ...before, total });
}

/** By how many rows the first visible row moved. If that row is gone, the next one that is left counts. */
export function shiftOf(before: readonly IssueSummary[], after: readonly IssueSummary[], first: number): number {
  for (let index = first; index < before.length; index += 1) {
    const now = after.findIndex(({ id }) => id === before[index]?.id);
    if (now !== -1) return now - first;
  }
  return 0;
}

/** How the cards of a status are sorted: as they start, or the newest change first. */
export type CardOrder = (left: IssueSummary, right: IssueSummary) => number;

export const asTheyStart: CardOrder = (left, right) =>
  rankOf(left.priority) - rankOf(right.priority) ||
  compare(left.created_at ?? '~', right.created_at ?? '~') ||
  compare(left.identifier, right.identifier);

export const newestFirst: CardOrder = (left, right) => compare(right.updated_at ?? '', left.updated_at ?? '');

/** As the daemon ranks them: 1 to 4 are priorities, everything else comes after them. */
export function rankOf(priority: number | null): number {
  return priority !== null && priority >= 1 && priority <= 4 ? priority : 5;
}

function compare(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** The columns with an issue in its current state, at its place in the column. An issue is in one column only. */
export function withIssue(columns: BoardColumns, issue: IssueSummary, order: CardOrder): BoardColumns {
  const next = new Map<string, BoardColumn>();
  const isKnown = findIssue(columns, issue.id) !== null;
  for (const [state, column] of columns) {
    const others = column.issues.filter(({ id }) => id !== issue.id);
    const isHere = state === issue.state && column.isRead;
    const wasHere = others.length < column.issues.length;
    // An issue that no page had may be one that a later page of this column has.
    const comes = state === issue.state && (isKnown || column.next === null);
    const total = column.total === null ? null : column.total + Number(comes) - Number(wasHere);
    if (!isHere) {
      next.set(state, wasHere ? { ...column, issues: others, total } : column);
      continue;
    }
    const after = others.findIndex((other) => order(issue, other) < 0);
    const issues = others.toSpliced(after === -1 ? others.length : after, 0, issue);
    next.set(state, { ...column, issues, total });
  }
  return next;
}

/** The columns with an issue in another status, if the board has it. */
export function withState(columns: BoardColumns, id: string, to: Move, order: CardOrder): BoardColumns {
  const issue = findIssue(columns, id);
  return issue === null ? columns : withIssue(columns, { ...issue, state: to.state, updated_at: to.at }, order);
}

/** Where an issue goes, and when. */
export interface Move {
  readonly state: string;
  readonly at: string;
}

export function withoutIssue(columns: BoardColumns, id: string): BoardColumns {
  return new Map(
    [...columns].map(([state, column]) => [
      state,
      column.issues.some((issue) => issue.id === id)
        ? {
            ...column,
            issues: column.issues.filter((issue) => issue.id !== id),
            total: column.total && column.total - 1,
          }
        : column,
    ]),
  );
}

export function findIssue(columns: BoardColumns, id: string): IssueSummary | null {
  for (const { issues } of columns.values()) {
    const issue = issues.find((each) => each.id === id);
    if (issue !== undefined) return issue;
  }
  return null;
}
