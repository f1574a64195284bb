import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { repeatedReads } from './statements.ts';

export interface BoardChangesPlace {
  readonly history: number;
  readonly comments: number;
}

export interface ChangedIssue {
  readonly id: string;
  readonly identifier: string;
}

type Counted = 'board_history' | 'board_comments';

export type BoardChanges = ReturnType<typeof boardChangesTable>;

/**
 * The issues of the board that any process changed or commented on since a given place. Rows of both tables are only
 * ever added, and numbered.
 */
export function boardChangesTable(db: Kysely<Database>, engine: Engine) {
  /** Another object after each write to the two tables. */
  const written = repeatedReads<object>(engine, 'board_history', 'board_comments');
  /** Where there was nothing new, and before which write. */
  let quiet: { readonly before: object; readonly place: BoardChangesPlace } | null = null;
  const lastOf = async (table: Counted, project: string): Promise<number> => {
    const last = await db
      .selectFrom(table)
      .select('seq')
      .where('project', '=', project)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst();
    return last?.seq ?? 0;
  };
  const added = (table: Counted, project: string, after: number, limit: number) => {
    const rows = db
      .selectFrom(table)
      .select(['seq', 'project', 'issue_id'])
      .where('project', '=', project)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(limit);
    return db
      .selectFrom(rows.as('news'))
      .innerJoin('board_issues', (join) =>
        join.onRef('board_issues.project', '=', 'news.project').onRef('board_issues.id', '=', 'news.issue_id'),
      )
      .select(['news.seq', 'board_issues.id', 'board_issues.identifier'])
      .orderBy('news.seq')
      .execute();
  };
  return {
    /** The place to begin from now on. */
    latest: async (project: string): Promise<BoardChangesPlace> => ({
      history: await lastOf('board_history', project),
      comments: await lastOf('board_comments', project),
    }),

    /** Each changed issue once, and the place for the next call; at most `limit` changes at a time. */
    after: async (
      project: string,
      place: BoardChangesPlace,
      limit: number,
    ): Promise<{
      readonly issues: readonly ChangedIssue[];
      readonly place: BoardChangesPlace;
      readonly isAll: boolean;
    }> => {
      const before = await written(project, async () => ({}));
      if (quiet?.before === before && isDeepStrictEqual(quiet.place, place)) return { issues: [], place, isAll: true };
      const changes = await added('board_history', project, place.history, limit);
      const comments = await added('board_comments', project, place.comments, limit);
      if (changes.length + comments.length === 0) quiet = { before, place };
      const issues = new Map([...changes, ...comments].map(({ id, identifier }) => [id, { id, identifier }]));
      return {
        issues: [...issues.values()],
        place: {
          history: changes.at(-1)?.seq ?? place.history,
          comments: comments.at(-1)?.seq ?? place.comments,
        },
        isAll: changes.length < limit && comments.length < limit,
      };
    },
  };
}
