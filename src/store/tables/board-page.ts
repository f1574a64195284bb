import type { Kysely } from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import type { Database } from '../schema.ts';
import { boardIssuesFrom } from './board-issue-rows.ts';
import type { BoardPage, BoardPageQuery } from './board-issues.ts';

/**
 * A page begins after a place in the order, not after a count: an issue that changes meanwhile goes to the top and
 * pushes nothing out of, or twice into, the pages that follow.
 */
export async function boardPage(db: Kysely<Database>, project: string, query: BoardPageQuery): Promise<BoardPage> {
  let wanted = db
    .selectFrom('board_issues')
    .selectAll()
    .where('project', '=', project)
    .where('status', '=', query.status)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(query.limit + 1);
  if (query.after !== null) {
    const { updatedAt, id } = placeFrom(query.after);
    wanted = wanted.where((eb) => eb(eb.refTuple('updated_at', 'id'), '<', eb.tuple(updatedAt, id)));
  }
  const rows = await wanted.execute();
  const shown = rows.slice(0, query.limit);
  const last = shown.at(-1);
  return {
    issues: await boardIssuesFrom(db, project, shown),
    next:
      rows.length > query.limit && last !== undefined ? placeText({ updatedAt: last.updated_at, id: last.id }) : null,
  };
}

/** Where an issue stands in the order of changes. */
export interface BoardPlace {
  readonly updatedAt: number;
  readonly id: string;
}

export function placeText({ updatedAt, id }: BoardPlace): string {
  return `${updatedAt}:${id}`;
}

export function placeFrom(cursor: string): BoardPlace {
  const colon = cursor.indexOf(':');
  const updatedAt = Number(cursor.slice(0, colon));
  if (colon < 1 || !Number.isSafeInteger(updatedAt)) {
    throw new BatonError('usage_error', 'the page cannot be continued: the mark is not one that a page gave');
  }
  return { updatedAt, id: cursor.slice(colon + 1) };
}
