import { type ReadonlySignal, signal } from '@preact/signals';
import type { StreamEvent } from '../../../src/client/schema/event.ts';
import type { IssueDetail, IssueList } from '../../../src/client/schema/issue.ts';
import { type Answer, type Problem, projectPath, read } from '../connection/api.ts';
import { onStreamEvent } from '../connection/live.ts';
import { later, now, pause } from '../page/clock.ts';
import {
  asTheyStart,
  type BoardColumns,
  type CardOrder,
  columnOf,
  findIssue,
  type Move,
  newestFirst,
  withIssue,
  withoutIssue,
  withPage,
  withState,
  withTotal,
} from './board-columns.ts';

/** The daemon's filters; the page applies the others. */
export interface BoardFilters {
  readonly q: string;
  readonly label: string;
}

/**
 * The issues of a project by status, read page by page as far as the user scrolls, and kept up to date. What must hold:
 *
 * - An issue is shown where the daemon last said it is, or where a person has just put it and the daemon has not answered.
 * - Open issues are in the order in which they would start, finished ones the newest first.
 * - The shown issues stay until their whole replacement is there: a person who reads a column keeps their place in it.
 */
export interface Board {
  readonly project: string;
  readonly columns: ReadonlySignal<BoardColumns>;
  readonly problem: ReadonlySignal<Problem | null>;
  /** The filters have changed, and the shown issues do not match them yet. */
  readonly isAsking: ReadonlySignal<boolean>;
  /** Reads the next page of a status, if there is one and it is not being read already. */
  readMore(state: string): void;
  /** Counts a status that is not read, and follows the count. */
  readTotal(state: string): void;
  /** Shows the issues that the daemon finds with other filters. */
  setFilters(filters: BoardFilters): void;
  /** Shows an issue in another status before the daemon has confirmed it. The returned function undoes that. */
  show(id: string, state: string): () => void;
  close(): void;
}

const pageSize = 200;
/** The largest page that the daemon returns. */
const largestPage = 500;
/** Read this many more on a reload, so that new issues at the front do not push out the last shown ones. */
const margin = 50;
const settleMs = 300;
/** A failed read is repeated after this. */
const againMs = 5_000;
/** With more changes than this at once, reading pages is cheaper. */
const mostSingleReads = 8;

export function openBoard(project: string, first: BoardFilters, finished: ReadonlySet<string>): Board {
  const orderOf = (state: string): CardOrder => (finished.has(state) ? newestFirst : asTheyStart);
  const columns = signal<BoardColumns>(new Map());
  const problem = signal<Problem | null>(null);
  const isAsking = signal(false);
  const closed = new AbortController();
  const changed = new Set<string>();
  /** Moves that a person made while the board was read again: the pages may be older. */
  const shown = new Map<string, Move>();
  const counted = new Set<string>();
  let wanted = first;
  let reading = new Set<string>();
  let isReloading = false;
  let cancel: (() => void) | null = null;
  /** Pages that were requested before the last reload are ignored. */
  let round = 0;

  const page = (state: string, cursor: string | null, limit = pageSize): Promise<Answer<IssueList>> => {
    const order = finished.has(state) ? 'changed' : 'start';
    const words = { state, order, limit: String(limit), ...wanted, cursor: cursor ?? '' };
    const query = new URLSearchParams(Object.entries(words).filter(([, value]) => value !== ''));
    return read<IssueList>(`${projectPath(project, 'issues')}?${query}`, closed.signal);
  };

  const readPage = async (state: string, cursor: string | null): Promise<void> => {
    // After a full read, or a failed one, the component that draws the columns asks again.
    if (isReloading || reading.has(state)) return;
    const mine = reading;
    mine.add(state);
    const asked = round;
    for (;;) {
      const answer = await page(state, cursor);
      if (closed.signal.aborted || asked !== round) return;
      problem.value = 'problem' in answer ? answer.problem : null;
      if ('value' in answer) {
        mine.delete(state);
        columns.value = withPage(columns.peek(), state, answer.value);
        return;
      }
      await pause(againMs, closed.signal);
      if (closed.signal.aborted || asked !== round) return;
    }
  };

  /** A column as far as it was read before; null, with the problem shown, when that is not possible now. */
  const readColumn = async (state: string, count: number, asked: number): Promise<readonly IssueList[] | null> => {
    const pages: IssueList[] = [];
    let left = count;
    let cursor: string | null = null;
    do {
      const answer: Answer<IssueList> = await page(state, cursor, Math.min(largestPage, Math.max(pageSize, left)));
      if (closed.signal.aborted || asked !== round) return null;
      problem.value = 'problem' in answer ? answer.problem : null;
      if ('problem' in answer) return null;
      pages.push(answer.value);
      left -= answer.value.issues.length;
      cursor = answer.value.next;
    } while (cursor !== null && left > 0);
    return pages;
  };

  const reload = async (): Promise<void> => {
    round += 1;
    const asked = round;
    isReloading = true;
    // The pages read now contain all known changes.
    changed.clear();
    cancel?.();
    cancel = null;
    const before = columns.peek();
    const states = new Set([...[...before].flatMap(([state, { isRead }]) => (isRead ? [state] : [])), ...reading]);
    const isOther = isAsking.peek();
    const depth = (state: string): number => (isOther ? 0 : columnOf(before, state).issues.length + margin);
    const fresh = await Promise.all(
      [...states].map(async (state) => ({ state, pages: await readColumn(state, depth(state), asked) })),
    );
    if (closed.signal.aborted || asked !== round) return;
    let next: BoardColumns = new Map();
    for (const { state, pages } of fresh) {
      if (pages === null) {
        cancel = later(againMs, () => void reload());
        return;
      }
      next = pages.reduce((columns, each) => withPage(columns, state, each), next);
    }
    for (const state of counted) next = withTotal(next, state, columnOf(before, state).total);
    for (const [id, to] of shown) next = withState(next, id, to, orderOf(to.state));
    shown.clear();
    isReloading = false;
    reading = new Set();
    isAsking.value = false;
    columns.value = next;
    countAll();
    if (changed.size > 0) cancel ??= later(settleMs, settle);
  };

  const readIssue = async (id: string): Promise<void> => {
    const asked = round;
    const answer = await read<IssueDetail>(projectPath(project, 'issues', id), closed.signal);
    if (closed.signal.aborted) return;
    // The pages being read may be older than this.
    if (isReloading || asked !== round) return changedLater(id);
    if ('value' in answer) {
      // A new issue may not match the search; the daemon knows, so the board asks it for pages then.
      const isSearched = wanted.q !== '' || wanted.label !== '';
      if (findIssue(columns.peek(), answer.value.id) !== null || !isSearched)
        columns.value = withIssue(columns.peek(), answer.value, orderOf(answer.value.state));
    } else if (answer.problem.status === 404) columns.value = withoutIssue(columns.peek(), id);
  };

  const count = async (state: string): Promise<void> => {
    if (columnOf(columns.peek(), state).isRead) return;
    const answer = await page(state, null, 1);
    // A search is not counted: the daemon would read all issues for it.
    if (!closed.signal.aborted && 'value' in answer && !columnOf(columns.peek(), state).isRead)
      columns.value = withTotal(columns.peek(), state, answer.value.total);
  };
  const countAll = (): void => {
    for (const state of counted) void count(state);
  };

  const settle = (): void => {
    cancel = null;
    countAll();
    const ids = [...changed];
    changed.clear();
    if (ids.length > mostSingleReads) void reload();
    else for (const id of ids) void readIssue(id);
  };
  const changedLater = (id: string): void => {
    changed.add(id);
    // A full read in progress goes first.
    if (!isReloading) cancel ??= later(settleMs, settle);
  };
  const unlisten = onStreamEvent((event) => {
    if (event.name === 'snapshot') void reload();
    for (const id of changedBy(event, project, columns.peek())) changedLater(id);
  });

  return {
    project,
    columns,
    problem,
    isAsking,
    readMore(state) {
      const { next, isRead } = columnOf(columns.peek(), state);
      if (!isRead || next !== null) void readPage(state, next);
    },
    readTotal(state) {
      if (counted.has(state)) return;
      counted.add(state);
      void count(state);
    },
    setFilters(filters) {
      if (filters.q === wanted.q && filters.label === wanted.label) return;
      wanted = filters;
      isAsking.value = true;
      void reload();
    },
    show(id, state) {
      const before = findIssue(columns.peek(), id);
      if (before === null) return () => {};
      const to = { state, at: new Date(now.peek()).toISOString() };
      columns.value = withState(columns.peek(), id, to, orderOf(state));
      if (isReloading) shown.set(id, to);
      return () => {
        shown.delete(id);
        columns.value = withIssue(columns.peek(), before, orderOf(before.state));
      };
    },
    close() {
      closed.abort();
      cancel?.();
      unlisten();
    },
  };
}

/** The issues that are no longer as shown: reported as changed, or in a row with another status. */
function changedBy(event: StreamEvent, project: string, columns: BoardColumns): readonly string[] {
  if (event.name === 'issue_changed') return event.data.project === project ? [event.data.issue_id] : [];
  if (event.name !== 'patch' || event.data.project !== project) return [];
  return Object.values(event.data.set).flatMap((rows) =>
    rows.flatMap(({ issue_id: id, state }) => {
      if (typeof id !== 'string' || typeof state !== 'string') return [];
      return findIssue(columns, id)?.state === state ? [] : [id];
    }),
  );
}
