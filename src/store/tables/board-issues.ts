import type { Kysely } from 'kysely';
import { dispatchRank } from '../../core/dispatch/dispatch-order.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import type { IssueOrder } from '../../core/issue/issue-place.ts';
import type { Engine } from '../engine.ts';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import { boardIssuesFrom } from './board-issue-rows.ts';
import { boardList, boardTops } from './board-list.ts';
import { atomically, changedOne, lockedRow, ofIssue, repeatedReads } from './statements.ts';

export interface BoardIssue {
  readonly id: string;
  /** `<PREFIX>-<number>`, counted per project. */
  readonly identifier: string;
  readonly title: string;
  readonly description: string | null;
  readonly status: BoardStatus;
  readonly priority: number | null;
  readonly labels: readonly string[];
  readonly parentId: string | null;
  readonly branch: string | null;
  readonly url: string | null;
  readonly blockers: readonly { readonly id: string; readonly identifier: string; readonly status: BoardStatus }[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface BoardIssueDraft extends Omit<BoardIssue, 'identifier' | 'blockers' | 'createdAt' | 'updatedAt'> {
  /** Of the identifier, such as `BAT`. */
  readonly prefix: string;
  readonly blockerIds: readonly string[];
  /** Chosen by the caller so that asking twice makes one issue. */
  readonly clientKey: string | null;
}

export type BoardIssuePatch = Partial<
  Pick<BoardIssueDraft, 'title' | 'description' | 'priority' | 'labels' | 'parentId' | 'branch' | 'url'>
>;

export interface BoardPageQuery {
  readonly status: BoardStatus;
  readonly limit: number;
  /** From the page before. */
  readonly after: string | null;
}

export interface BoardListQuery extends Omit<BoardPageQuery, 'status'> {
  readonly statuses: readonly BoardStatus[];
  readonly match: BoardMatch;
  readonly scan: number;
  /** `changed` by default. */
  readonly order?: IssueOrder;
}

/** The features that an issue must have; a missing one does not matter. */
export interface BoardMatch {
  /** Somewhere in identifier, title or description, whatever the case of its ASCII letters. */
  readonly text?: string;
  readonly label?: string;
  readonly priority?: number | null;
}

export interface BoardPage {
  readonly issues: readonly BoardIssue[];
  /** For the next page; null at the end. */
  readonly next: string | null;
}

export type BoardIssues = ReturnType<typeof boardIssuesTable>;

/** The board's own issues, with their labels and blockers. `core` has the rules of the board; this only stores. */
export function boardIssuesTable(db: Kysely<Database>, engine: Engine) {
  const activeOnes = repeatedReads<readonly BoardIssue[]>(engine, 'board_issues', 'board_blockers');
  const counts = repeatedReads<Readonly<Partial<Record<BoardStatus, number>>>>(engine, 'board_issues');
  const select = (project: string) => db.selectFrom('board_issues').selectAll().where('project', '=', project);
  const change = ({ project, issueId }: IssueKey) =>
    db.updateTable('board_issues').where('project', '=', project).where('id', '=', issueId).returningAll();
  const one = async (project: string, rows: Promise<Database['board_issues'][]>): Promise<BoardIssue | null> =>
    (await boardIssuesFrom(db, project, await rows))[0] ?? null;
  return {
    /**
     * Keeps every other change of the project's board out until the transaction ends: what is read after it stays true.
     * Only inside a transaction.
     */
    lock: async (project: string): Promise<void> => void (await lockCounter(db, engine.name, project)),

    /** Makes an issue; with a `clientKey` that is known already it gives the earlier issue, and `created` is false. */
    create: (
      project: string,
      draft: BoardIssueDraft,
      at: number,
    ): Promise<{ readonly issue: BoardIssue; readonly created: boolean }> =>
      atomically(db, (inside) => create(inside, engine.name, project, draft, at)),

    /** Changes what the patch names and nothing else; null when there is no such issue. */
    update: (key: IssueKey, patch: BoardIssuePatch, at: number): Promise<BoardIssue | null> =>
      one(
        key.project,
        change(key)
          .set({ ...columnsOf(patch), updated_at: at })
          .execute(),
      ),

    /** Sets the status if it still is `from`; null otherwise, or without such an issue. The caller writes the history. */
    setStatus: (
      key: IssueKey,
      { from, to }: { readonly from: BoardStatus; readonly to: BoardStatus },
      at: number,
    ): Promise<BoardIssue | null> =>
      one(key.project, change(key).set({ status: to, updated_at: at }).where('status', '=', from).execute()),

    /** In the order asked; unknown ids are left out. */
    readMany: async (project: string, ids: readonly string[]): Promise<readonly BoardIssue[]> => {
      if (ids.length === 0) return [];
      const rows = await select(project)
        .where('id', 'in', [...new Set(ids)])
        .execute();
      const found = new Map((await boardIssuesFrom(db, project, rows)).map((issue) => [issue.id, issue]));
      return ids.flatMap((id) => found.get(id) ?? []);
    },

    byIdentifier: (project: string, identifier: string): Promise<BoardIssue | null> =>
      one(project, select(project).where('identifier', '=', identifier).execute()),

    /** In dispatch order (priority, created, identifier); uses an index, whatever the size of the board. */
    byStatuses: async (project: string, statuses: readonly BoardStatus[]): Promise<readonly BoardIssue[]> => {
      if (statuses.length === 0) return [];
      return activeOnes(JSON.stringify([project, statuses]), async () => {
        const rows = await select(project)
          .where('status', 'in', [...statuses])
          .orderBy('dispatch_rank')
          .orderBy('created_at')
          .orderBy('identifier')
          .execute();
        return boardIssuesFrom(db, project, rows);
      });
    },

    /**
     * In dispatch order, the issues of the backlog that no person moved there and whose blockers are finished. An issue
     * that a person filed there waits for its turn; one that a person moved there was put aside.
     */
    promotable: async (
      project: string,
      { limit, offset }: { readonly limit: number; readonly offset: number },
    ): Promise<readonly BoardIssue[]> => {
      const rows = await select(project)
        .where('status', '=', 'backlog')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('board_history')
                .select('board_history.seq')
                .whereRef('board_history.project', '=', 'board_issues.project')
                .whereRef('board_history.issue_id', '=', 'board_issues.id')
                .where('field', '=', 'status')
                .where('to_json', '=', '"backlog"')
                .where('author_json', 'like', '%"kind":"person"%'),
            ),
          ),
        )
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('board_blockers')
                .innerJoin('board_issues as blocker', (join) =>
                  join
                    .onRef('blocker.project', '=', 'board_blockers.project')
                    .onRef('blocker.id', '=', 'board_blockers.blocker_id'),
                )
                .select('blocker.id')
                .whereRef('board_blockers.project', '=', 'board_issues.project')
                .whereRef('board_blockers.issue_id', '=', 'board_issues.id')
                .where('blocker.status', 'not in', ['done', 'cancelled']),
            ),
          ),
        )
        .orderBy('dispatch_rank')
        .orderBy('created_at')
        .orderBy('identifier')
        .limit(limit)
        .offset(offset)
        .execute();
      return boardIssuesFrom(db, project, rows);
    },

    /** One column, newest change first, page by page. */
    page: (project: string, { status, limit, after }: BoardPageQuery): Promise<BoardPage> =>
      boardList(db, project, { statuses: [status], match: {}, limit, scan: limit, after }),

    /** The newest changes of each of these columns, at most `limit` of each, one column after the other. */
    tops: (project: string, statuses: readonly BoardStatus[], limit: number): Promise<readonly BoardIssue[]> =>
      boardTops(db, project, statuses, limit),

    /**
     * Several columns as one list, page by page. At most `scan` issues of each column are read for a page, so
     * that no query reads the whole board: where few match, a page may be short, or empty, and have a next one.
     */
    list: (project: string, query: BoardListQuery): Promise<BoardPage> => boardList(db, project, query),

    countByStatus: (project: string): Promise<Readonly<Partial<Record<BoardStatus, number>>>> =>
      counts(project, async () => {
        const rows = await db
          .selectFrom('board_issues')
          .select(['status', (eb) => eb.fn.countAll<number>().as('count')])
          .where('project', '=', project)
          .groupBy('status')
          .execute();
        return Object.fromEntries(rows.map((row) => [row.status, row.count]));
      }),

    children: async ({ project, issueId }: IssueKey): Promise<readonly BoardIssue[]> => {
      const rows = await select(project)
        .where('parent_id', '=', issueId)
        .orderBy('created_at')
        .orderBy('identifier')
        .execute();
      return boardIssuesFrom(db, project, rows);
    },

    /** False when it was a blocker already. The caller refuses cycles. */
    addBlocker: ({ project, issueId }: IssueKey, blockerId: string): Promise<boolean> =>
      changedOne(
        db
          .insertInto('board_blockers')
          .values({ project, issue_id: issueId, blocker_id: blockerId })
          .onConflict((conflict) => conflict.columns(['project', 'issue_id', 'blocker_id']).doNothing()),
      ),

    removeBlocker: (key: IssueKey, blockerId: string): Promise<boolean> =>
      changedOne(db.deleteFrom('board_blockers').where(ofIssue(key)).where('blocker_id', '=', blockerId)),

    /** Issues that the given one blocks. */
    blockedBy: async ({ project, issueId }: IssueKey): Promise<readonly BoardIssue[]> => {
      const rows = await db
        .selectFrom('board_blockers')
        .innerJoin('board_issues', (join) =>
          join
            .onRef('board_issues.project', '=', 'board_blockers.project')
            .onRef('board_issues.id', '=', 'board_blockers.issue_id'),
        )
        .selectAll('board_issues')
        .where('board_blockers.project', '=', project)
        .where('board_blockers.blocker_id', '=', issueId)
        .orderBy('board_issues.created_at')
        .orderBy('board_issues.identifier')
        .execute();
      return boardIssuesFrom(db, project, rows);
    },
  };
}

/**
 * Gives the next number of the project and writes the issue. Must run in a transaction: the counter's row is the lock
 * that keeps two writers apart, so the client key is read after taking it, and only a new issue uses up a number.
 */
async function create(
  db: Kysely<Database>,
  engine: Engine['name'],
  project: string,
  draft: BoardIssueDraft,
  at: number,
): Promise<{ readonly issue: BoardIssue; readonly created: boolean }> {
  const number = (await lockCounter(db, engine, project)) + 1;
  if (draft.clientKey !== null) {
    const rows = await db
      .selectFrom('board_issues')
      .selectAll()
      .where('project', '=', project)
      .where('client_key', '=', draft.clientKey)
      .execute();
    const [known] = await boardIssuesFrom(db, project, rows);
    if (known !== undefined) return { issue: known, created: false };
  }

  await db.updateTable('board_counters').set({ last_number: number }).where('project', '=', project).execute();
  const written = await db
    .insertInto('board_issues')
    .values({
      project,
      id: draft.id,
      identifier: `${draft.prefix}-${number}`,
      title: draft.title,
      description: draft.description,
      status: draft.status,
      priority: draft.priority,
      dispatch_rank: dispatchRank(draft.priority),
      labels_json: JSON.stringify(draft.labels),
      parent_id: draft.parentId,
      branch: draft.branch,
      url: draft.url,
      client_key: draft.clientKey,
      created_at: at,
      updated_at: at,
    })
    .returningAll()
    .execute();
  const blockers = [...new Set(draft.blockerIds)].map((blocker_id) => ({ project, issue_id: draft.id, blocker_id }));
  if (blockers.length > 0) await db.insertInto('board_blockers').values(blockers).execute();
  const [issue] = await boardIssuesFrom(db, project, written);
  if (issue === undefined) throw new Error('an insert gave no row back');
  return { issue, created: true };
}

/** Locks a project's board, by the row of its counter; gives the last number. */
async function lockCounter(db: Kysely<Database>, engine: Engine['name'], project: string): Promise<number> {
  await db
    .insertInto('board_counters')
    .values({ project, last_number: 0 })
    .onConflict((conflict) => conflict.column('project').doNothing())
    .execute();
  const counter = db.selectFrom('board_counters').select('last_number').where('project', '=', project);
  return (await lockedRow(db, engine, counter))?.last_number ?? 0;
}

/** One by one, so that no other property of the object, such as a status, gets past the rules of the board. */
function columnsOf(patch: BoardIssuePatch): Partial<Database['board_issues']> {
  const { title, description, priority, labels, parentId, branch, url } = patch;
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(priority === undefined ? {} : { priority, dispatch_rank: dispatchRank(priority) }),
    ...(labels === undefined ? {} : { labels_json: JSON.stringify(labels) }),
    ...(parentId === undefined ? {} : { parent_id: parentId }),
    ...(branch === undefined ? {} : { branch }),
    ...(url === undefined ? {} : { url }),
  };
}
