import type { Kysely } from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import type { Database } from '../schema.ts';
import { boardIssuesFrom } from './board-issue-rows.ts';
import type { BoardListQuery, BoardMatch, BoardPage } from './board-issues.ts';
import { hasText } from './statements.ts';

type Row = Database['board_issues'];

/** The part of one column that was read. */
interface ColumnPart {
  /** Those that match, newest change first. */
  readonly rows: readonly Row[];
  /** All of the column down to here was read; null when that is all there is. */
  readonly readTo: BoardPlace | null;
}

/**
 * Several columns as one list, in the order of changes. Each column is read by its index from the same place on. The list
 * is certain down to the place where the column that was read least ends, and no page goes further.
 */
export async function boardList(db: Kysely<Database>, project: string, query: BoardListQuery): Promise<BoardPage> {
  const after = query.after === null ? null : placeFrom(query.after);
  const parts: ColumnPart[] = [];
  for (const status of new Set(query.statuses)) parts.push(await columnPart(db, project, status, query, after));
  const certainTo = parts
    .flatMap(({ readTo }) => readTo ?? [])
    .toSorted(newestFirst)
    .at(0);
  const rows = parts
    .flatMap((part) => part.rows)
    .filter((row) => certainTo === undefined || newestFirst(placeOf(row), certainTo) <= 0)
    .toSorted((left, right) => newestFirst(placeOf(left), placeOf(right)));
  const shown = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? shown.at(-1) : undefined;
  const next = last === undefined ? certainTo : placeOf(last);
  return { issues: await boardIssuesFrom(db, project, shown), next: next === undefined ? null : placeText(next) };
}

async function columnPart(
  db: Kysely<Database>,
  project: string,
  status: BoardStatus,
  { match, limit, scan }: BoardListQuery,
  after: BoardPlace | null,
): Promise<ColumnPart> {
  const isPlain = Object.values(match).every((value) => value === undefined);
  const most = limit + 1;
  const inOrder = () => {
    const column = db
      .selectFrom('board_issues')
      .selectAll()
      .where('project', '=', project)
      .where('status', '=', status)
      .orderBy('updated_at', 'desc')
      .orderBy('id', 'desc');
    return after === null
      ? column
      : column.where((eb) => eb(eb.refTuple('updated_at', 'id'), '<', eb.tuple(after.updatedAt, after.id)));
  };
  const rows = isPlain
    ? await inOrder().limit(most).execute()
    : await matching(db, inOrder().limit(scan), match).limit(most).execute();
  const last = rows.at(-1);
  if (rows.length === most && last !== undefined) return { rows, readTo: placeOf(last) };
  if (isPlain) return { rows, readTo: null };
  const end = await inOrder()
    .limit(1)
    .offset(scan - 1)
    .executeTakeFirst();
  return { rows, readTo: end === undefined ? null : placeOf(end) };
}

function matching(
  db: Kysely<Database>,
  few: ReturnType<typeof columnOf>,
  { text, label, priority }: BoardMatch,
): ReturnType<typeof columnOf> {
  let wanted = db
    .selectFrom(few.as('board_issues'))
    .selectAll()
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc') as unknown as ReturnType<typeof columnOf>;
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

function placeOf({ updated_at: updatedAt, id }: Row): BoardPlace {
  return { updatedAt, id };
}

function newestFirst(left: BoardPlace, right: BoardPlace): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  return left.id === right.id ? 0 : left.id < right.id ? 1 : -1;
}

/**
 * The place of an issue in the order of changes. A page begins after a place, not after a count: an issue that changes
 * meanwhile goes to the top, and no issue is missing from, or twice in, the pages that follow.
 */
interface BoardPlace {
  readonly updatedAt: number;
  readonly id: string;
}

function placeText({ updatedAt, id }: BoardPlace): string {
  return `${updatedAt}:${id}`;
}

function placeFrom(cursor: string): BoardPlace {
  const colon = cursor.indexOf(':');
  const updatedAt = Number(cursor.slice(0, colon));
  if (colon < 1 || !Number.isSafeInteger(updatedAt)) {
    throw new BatonError('usage_error', 'The page cannot be continued: the cursor does not come from an earlier page.');
  }
  return { updatedAt, id: cursor.slice(colon + 1) };
}
