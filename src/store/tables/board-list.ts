import { type Kysely, sql } from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import { comparePlaces, type IssuePlace } from '../../core/issue/issue-place.ts';
import type { Database } from '../schema.ts';
import { boardIssuesFrom } from './board-issue-rows.ts';
import type { BoardIssue, BoardListQuery, BoardMatch, BoardPage } from './board-issues.ts';
import { hasText } from './statements.ts';

type Row = Database['board_issues'];

/**
 * Several columns as one list. Each column is read by its index from the same place on, and all of them by one statement:
 * an issue that moves meanwhile is in one column, never in none or in two. The list is certain down to the place where the
 * column that was read least ends, and no page goes further.
 */
export async function boardList(db: Kysely<Database>, project: string, query: BoardListQuery): Promise<BoardPage> {
  const { order: name = 'changed', limit, match } = query;
  const order = orders[name];
  const after = query.after === null ? null : placeFrom(query.after, order);
  const inOrder = (left: IssuePlace, right: IssuePlace): number => comparePlaces(left, right, name);
  const isPlain = Object.values(match).every((value) => value === undefined);
  const most = limit + 1;
  const columns = [...new Set(query.statuses)].map((status) => ({
    status,
    rows: columnFrom(db, project, status, order, after),
  }));
  const found = await inOneStatement(
    db,
    columns.map(({ rows }) => (isPlain ? rows : matching(db, rows.limit(query.scan), match, order)).limit(most)),
  );
  const sorted = found.toSorted((left, right) => inOrder(placeOf(left, order), placeOf(right, order)));

  const ends: IssuePlace[] = [];
  for (const { status, rows } of columns) {
    const part = sorted.filter((row) => row.status === status);
    const last = part.at(-1);
    // Where few match, all of the column down to the last row that was searched is certain.
    const end =
      part.length === most
        ? last
        : isPlain
          ? undefined
          : await rows
              .limit(1)
              .offset(query.scan - 1)
              .executeTakeFirst();
    if (end !== undefined) ends.push(placeOf(end, order));
  }
  const certainTo = ends.toSorted(inOrder).at(0);
  const rows = sorted.filter((row) => certainTo === undefined || inOrder(placeOf(row, order), certainTo) <= 0);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const next = last === undefined ? certainTo : placeOf(last, order);
  return { issues: await boardIssuesFrom(db, project, shown), next: next === undefined ? null : next.join(':') };
}

/** The newest changes of each column, one column after the other, read by one statement. */
export async function boardTops(
  db: Kysely<Database>,
  project: string,
  statuses: readonly BoardStatus[],
  limit: number,
): Promise<readonly BoardIssue[]> {
  const order = orders.changed;
  const columns = statuses.map((status) => columnFrom(db, project, status, order, null).limit(limit));
  const found = Map.groupBy(await inOneStatement(db, columns), ({ status }) => status);
  const rows = statuses.flatMap((status) =>
    (found.get(status) ?? []).toSorted((left, right) =>
      comparePlaces(placeOf(left, order), placeOf(right, order), 'changed'),
    ),
  );
  return boardIssuesFrom(db, project, rows);
}

/** The rows of all these queries as of one moment, in no order. */
async function inOneStatement(
  db: Kysely<Database>,
  queries: readonly ReturnType<typeof columnOf>[],
): Promise<readonly Row[]> {
  const [first, ...others] = queries.map((each) => db.selectFrom(each.as('board_issues')).selectAll());
  return (await others.reduce((all, each) => all?.unionAll(each), first)?.execute()) ?? [];
}

/** One column from a place on, in the order of the list. */
function columnFrom(
  db: Kysely<Database>,
  project: string,
  status: BoardStatus,
  { columns, direction }: Order,
  after: IssuePlace | null,
): ReturnType<typeof columnOf> {
  let column = columnOf(db).where('project', '=', project).where('status', '=', status);
  for (const each of columns) column = column.orderBy(each, direction);
  if (after === null) return column;
  const sign = sql.raw(direction === 'asc' ? '>' : '<');
  return column.where(
    sql<boolean>`(${sql.join(columns.map((each) => sql.ref(each)))}) ${sign} (${sql.join([...after])})`,
  );
}

function matching(
  db: Kysely<Database>,
  few: ReturnType<typeof columnOf>,
  { text, label, priority }: BoardMatch,
  { columns, direction }: Order,
): ReturnType<typeof columnOf> {
  let wanted = db.selectFrom(few.as('board_issues')).selectAll() as unknown as ReturnType<typeof columnOf>;
  for (const each of columns) wanted = wanted.orderBy(each, direction);
  if (text !== undefined)
    wanted = wanted.where((eb) => eb.or(searched.map((column) => hasText(`board_issues.${column}`, text))));
  // Labels are a JSON list of texts, so a label is found as text in quotes.
  if (label !== undefined) wanted = wanted.where(hasText('board_issues.labels_json', JSON.stringify(label)));
  if (priority !== undefined)
    wanted = priority === null ? wanted.where('priority', 'is', null) : wanted.where('priority', '=', priority);
  return wanted;
}

const searched = ['identifier', 'title', 'description'] as const;

function columnOf(db: Kysely<Database>) {
  return db.selectFrom('board_issues').selectAll();
}

/** By which columns of the table a list is sorted. All are numbers but the last; each order has its index. */
const orders = {
  changed: { columns: ['updated_at', 'id'], direction: 'desc' },
  start: { columns: ['dispatch_rank', 'created_at', 'identifier'], direction: 'asc' },
} as const;

type Order = (typeof orders)[keyof typeof orders];

function placeOf(row: Row, { columns }: Order): IssuePlace {
  return columns.map((column) => row[column]);
}

/**
 * A page begins after a place, not after a count: an issue that changes meanwhile has another place, and no other issue
 * is missing from, or twice in, the pages that follow.
 */
function placeFrom(cursor: string, { columns }: Order): IssuePlace {
  const parts = cursor.split(':');
  const numbers = parts.slice(0, columns.length - 1).map(Number);
  if (parts.length < columns.length || !numbers.every(Number.isSafeInteger) || parts[0] === '') {
    throw new BatonError('usage_error', 'The page cannot be continued: the cursor does not come from an earlier page.');
  }
  return [...numbers, parts.slice(columns.length - 1).join(':')];
}
