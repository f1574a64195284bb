import type { IssueList, IssueSummary } from '../../../src/client/schema/issue.ts';

/** One status of the board, as far as it was read. */
export interface BoardColumn {
  readonly issues: readonly IssueSummary[];
  /** The cursor of the next page; null when everything was read. */
  readonly next: string | null;
  readonly isRead: boolean;
}

export type BoardColumns = ReadonlyMap<string, BoardColumn>;

const unread: BoardColumn = { issues: [], next: null, isRead: false };

export function columnOf(columns: BoardColumns, state: string): BoardColumn {
  return columns.get(state) ?? unread;
}

/** The columns with another page of one. An issue that was moved there meanwhile is not listed twice. */
export function withPage(columns: BoardColumns, state: string, page: IssueList): BoardColumns {
  const before = columnOf(columns, state);
  const known = new Set(before.issues.map(({ id }) => id));
  const issues = [...before.issues, ...page.issues.filter(({ id, state: at }) => at === state && !known.has(id))];
  return new Map(columns).set(state, { issues, next: page.next, isRead: true });
}

/**
 * A column that was read again while a person reads it: issues that stay keep their place, new ones are on top, and
 * issues beyond the known end come after it. Issues that have gone are left out.
 */
export function inPlace(before: BoardColumn, fresh: BoardColumn): BoardColumn {
  const places = new Map(fresh.issues.map(({ id }, index) => [id, index]));
  const stays = before.issues.flatMap(({ id }) => places.get(id) ?? []);
  const known = new Set(stays);
  const end = stays.reduce((last, place) => Math.max(last, place), -1);
  const at = (place: number): readonly IssueSummary[] => fresh.issues.slice(place, place + 1);
  const came = fresh.issues.flatMap((_, place) => (known.has(place) ? [] : [place]));
  const order = [...came.filter((place) => place < end), ...stays, ...came.filter((place) => place > end)];
  return { ...fresh, issues: order.flatMap(at) };
}

/** By how many rows the first visible row moved. If that row is gone, the next one that is left counts. */
export function shiftOf(before: readonly IssueSummary[], after: readonly IssueSummary[], first: number): number {
  for (let index = first; index < before.length; index += 1) {
    const now = after.findIndex(({ id }) => id === before[index]?.id);
    if (now !== -1) return now - first;
  }
  return 0;
}

/**
 * The columns with an issue in its current state. With the same status it stays in its place, otherwise it goes on top
 * of its new column, where the person sees it. An issue is in one column only.
 */
export function withIssue(columns: BoardColumns, issue: IssueSummary): BoardColumns {
  const next = new Map<string, BoardColumn>();
  let isPlaced = false;
  for (const [state, column] of columns) {
    const index = column.issues.findIndex(({ id }) => id === issue.id);
    if (index === -1) next.set(state, column);
    else if (state === issue.state) {
      next.set(state, { ...column, issues: column.issues.with(index, issue) });
      isPlaced = true;
    } else next.set(state, { ...column, issues: column.issues.toSpliced(index, 1) });
  }
  const target = next.get(issue.state);
  if (!isPlaced && target !== undefined) next.set(issue.state, { ...target, issues: [issue, ...target.issues] });
  return next;
}

/** The columns with an issue in another status, if the board has it. */
export function withState(columns: BoardColumns, id: string, state: string): BoardColumns {
  const issue = findIssue(columns, id);
  return issue === null ? columns : withIssue(columns, { ...issue, state });
}

export function withoutIssue(columns: BoardColumns, id: string): BoardColumns {
  return new Map(
    [...columns].map(([state, column]) => [
      state,
      column.issues.some((issue) => issue.id === id)
        ? { ...column, issues: column.issues.filter((issue) => issue.id !== id) }
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
