import { type Clock, sleep } from '../../../clock/clock.ts';
import { type BoardStatus, boardStatuses, readBoardStatus } from '../../../core/issue/board-status.ts';
import { comparePlaces, type IssueOrder, type IssuePlace } from '../../../core/issue/issue-place.ts';
import type { BoardMatch } from '../../../store/tables/board-issues.ts';
import type { ApiProject } from '../api-project.ts';
import { activitiesOf } from '../present/issue-activity.ts';
import { fitsFilter, type IssueFilter, placeOf } from '../present/issue-filter.ts';
import { type IssueFacts, presentBoardIssue, seenIssues } from '../present/present-issue.ts';

/** How many issues of each column one query reads: a few milliseconds. */
const rowsPerQuery = 500;
/** When few issues match, a page is searched for at most this time and this many queries; the next page continues. */
const searchMs = 250;
const mostQueries = 100;
/** Ids in one query to the store. */
const idsPerQuery = 500;

export interface IssuePageQuery {
  readonly filter: IssueFilter;
  readonly order: IssueOrder;
  readonly limit: number;
  readonly after: IssuePlace | null;
}

export interface IssuePage {
  readonly issues: readonly IssueFacts[];
  readonly next: IssuePlace | null;
  /** How many there are in all; null where counting them would read them all. */
  readonly total: number | null;
}

/**
 * A page of issues: from the store for our own board, from the read model for any other tracker.
 */
export async function listIssues(project: ApiProject, query: IssuePageQuery, clock: Clock): Promise<IssuePage> {
  const activities = activitiesOf(project.read());
  if (!project.describe().has_board) return pageOf(seenIssues(project.read(), activities), query);
  // Baton is active on few issues, whatever the size of the board.
  if (query.filter.activity === undefined) return pageOfBoard(project, query, clock);
  const issues: IssueFacts[] = [];
  for (let from = 0; from < activities.ids.length; from += idsPerQuery) {
    const ids = activities.ids.slice(from, from + idsPerQuery);
    const found = await project.tables.boardIssues.readMany(project.id, ids);
    issues.push(...found.map((issue) => presentBoardIssue(issue, activities)));
  }
  return pageOf(issues, query);
}

/** The columns that the words name; null when one of the words is not a column. */
export function boardStatusesOf(states: readonly string[]): readonly BoardStatus[] | null {
  if (states.length === 0) return boardStatuses;
  const found = states.map(readBoardStatus);
  return found.every((status) => status !== null) ? found : null;
}

function pageOf(issues: readonly IssueFacts[], { filter, order, limit, after }: IssuePageQuery): IssuePage {
  const place = (issue: IssueFacts): IssuePlace => placeOf(issue, order);
  const fitting = issues.filter((issue) => fitsFilter(issue, filter));
  const left = fitting
    .filter((issue) => after === null || comparePlaces(after, place(issue), order) < 0)
    .toSorted((one, other) => comparePlaces(place(one), place(other), order));
  const shown = left.slice(0, limit);
  const last = shown.at(-1);
  const next = left.length > limit && last !== undefined ? place(last) : null;
  return { issues: shown, next, total: fitting.length };
}

async function pageOfBoard(project: ApiProject, query: IssuePageQuery, clock: Clock): Promise<IssuePage> {
  const { filter, order, limit } = query;
  const { boardIssues } = project.tables;
  const activities = activitiesOf(project.read());
  const statuses = boardStatusesOf(filter.states) ?? [];
  const until = clock.monotonic() + searchMs;
  const issues: IssueFacts[] = [];
  let after = query.after === null ? null : query.after.join(':');
  for (let queries = 0; queries < mostQueries; queries += 1) {
    const page = await boardIssues.list(project.id, {
      statuses,
      match: matchOf(filter),
      limit: limit - issues.length,
      scan: rowsPerQuery,
      order,
      after,
    });
    issues.push(...page.issues.map((issue) => presentBoardIssue(issue, activities)));
    after = page.next;
    if (after === null || issues.length >= limit || clock.monotonic() >= until) break;
    // The store and the event loop serve one query at a time: let others have their turn in between.
    await sleep(clock, 0);
  }
  const isPlain = Object.keys(matchOf(filter)).length === 0;
  const counts = isPlain && query.after === null ? await boardIssues.countByStatus(project.id) : null;
  const total = counts && [...new Set(statuses)].reduce((sum, status) => sum + (counts[status] ?? 0), 0);
  return { issues, next: after === null ? null : placeIn(after, order), total };
}

function matchOf({ text, label, priority }: IssueFilter): BoardMatch {
  return {
    ...(text === undefined ? {} : { text }),
    ...(label === undefined ? {} : { label }),
    ...(priority === undefined ? {} : { priority }),
  };
}

function placeIn(mark: string, order: IssueOrder): IssuePlace {
  const parts = mark.split(':');
  const numbers = parts.splice(0, order === 'start' ? 2 : 1).map(Number);
  return [...numbers, parts.join(':')];
}
