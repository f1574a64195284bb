import type { Kysely } from 'kysely';
import { BatonError } from '../../../core/baton-error.ts';
import type { Author } from '../../../core/issue/author.ts';
import {
  isMovedByBaton,
  type Merged,
  type PullRequest,
  type PullRound,
  type SentBack,
} from '../../../core/pull/pull-request.ts';
import type { Engine } from '../../engine.ts';
import type { IssueKey } from '../../issue-key.ts';
import { authorFrom } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { atomically, changedOne, inParts, ofIssue, repeatedReads } from '../statements.ts';

/** A pull request to open. Its number comes from the store. */
export interface PullDraft extends IssueKey {
  readonly identifier: string;
  readonly title: string;
  readonly body: string;
  readonly host: string;
  readonly hostNumber: number | null;
  readonly url: string | null;
  readonly repository: string;
  readonly branch: string;
  readonly base: string;
  readonly baseCommit: string;
  readonly headCommit: string;
  readonly at: number;
  readonly by: Author;
  /** Whose head it is; absent: of the run that opens it. */
  readonly runId?: string | null;
}

/** Which pull request. */
export interface PullKey {
  readonly project: string;
  readonly number: number;
}

/** A head that is in review from now on. */
export interface StandingHead {
  readonly headCommit: string;
  readonly baseCommit: string;
  readonly at: number;
  /** Null when a person moved the branch. */
  readonly runId: string | null;
}

/** More losses than this against other daemons that open at the same time mean a defect. */
const mostTries = 100;

/**
 * Pull requests and their rounds. What must hold:
 *
 * - An issue has at most one open pull request, and a number is never given twice; an index and the key guard both.
 * - What a person or a check said about a head applies to that head only: a write names the head that it means and
 *   changes nothing when another stands there by now.
 * - A pull request ends merged or closed, and nothing changes it afterwards; only a closed one may be reopened, where its
 *   host has it open again.
 */
export function pullRequestsTable(db: Kysely<Database>, engine: Engine) {
  const openReads = repeatedReads<readonly PullRequest[]>(engine, 'pull_requests');
  const openOnes = (inside: Kysely<Database>, { project, number }: PullKey) =>
    inside
      .updateTable('pull_requests')
      .where('project', '=', project)
      .where('number', '=', number)
      .where('merged_at', 'is', null)
      .where('closed_at', 'is', null);
  const openOfIssue = async (inside: Kysely<Database>, issue: IssueKey): Promise<PullRequest | null> => {
    const row = await inside
      .selectFrom('pull_requests')
      .selectAll()
      .where(ofIssue(issue))
      .where('merged_at', 'is', null)
      .where('closed_at', 'is', null)
      .executeTakeFirst();
    return row === undefined ? null : pullFrom(row);
  };
  const endedWith = async (inside: Kysely<Database>, draft: PullDraft): Promise<PullRequest | null> => {
    const last = await inside
      .selectFrom('pull_requests')
      .selectAll()
      .where(ofIssue(draft))
      .orderBy('number', 'desc')
      .executeTakeFirst();
    const isSameAtHost =
      draft.hostNumber !== null && last?.host_number === draft.hostNumber && last.host === draft.host;
    return last !== undefined && (isSameAtHost || last.head_commit === draft.headCommit) ? pullFrom(last) : null;
  };
  const addRound = async (inside: Kysely<Database>, { project, number }: PullKey, head: StandingHead) => {
    await inside
      .insertInto('pull_rounds')
      .values(({ selectFrom }) => ({
        project,
        number,
        round: selectFrom('pull_rounds')
          .select(({ eb, fn, lit }) => eb(fn.coalesce(fn.max('round'), lit(0)), '+', 1).as('next'))
          .where('project', '=', project)
          .where('number', '=', number),
        head_commit: head.headCommit,
        base_commit: head.baseCommit,
        at: head.at,
        run_id: head.runId,
      }))
      .execute();
  };
  return {
    /**
     * Opens one with its first round, or gives the one of the issue that is open already, unchanged; or its last one, when
     * that ended with exactly this head, which is not proposed again, or when its host has that one open again.
     */
    open: (draft: PullDraft): Promise<PullRequest> =>
      atomically(db, async (inside) => {
        for (let tries = 0; tries < mostTries; tries += 1) {
          const open = (await openOfIssue(inside, draft)) ?? (await endedWith(inside, draft));
          if (open !== null) return open;
          const last = await inside
            .selectFrom('pull_requests')
            .select(({ fn }) => fn.max('number').as('number'))
            .where('project', '=', draft.project)
            .executeTakeFirst();
          const row = await inside
            .insertInto('pull_requests')
            .values(rowOf(draft, Number(last?.number ?? 0) + 1))
            // Another daemon may have opened one at the same time, of this number or of this issue.
            .onConflict((conflict) => conflict.doNothing())
            .returningAll()
            .executeTakeFirst();
          if (row === undefined) continue;
          const { by, runId = by.kind === 'run' ? by.runId : null } = draft;
          await addRound(inside, row, { ...draft, runId });
          return pullFrom(row);
        }
        throw new BatonError('internal_error', `Failed to find a number for a pull request of ${draft.identifier}.`);
      }),

    read: async ({ project, number }: PullKey): Promise<PullRequest | null> => {
      const row = await db
        .selectFrom('pull_requests')
        .selectAll()
        .where('project', '=', project)
        .where('number', '=', number)
        .executeTakeFirst();
      return row === undefined ? null : pullFrom(row);
    },

    openOfIssue: (issue: IssueKey): Promise<PullRequest | null> => openOfIssue(db, issue),

    /** The newest of each issue, open or not. */
    latestOfIssues: async (project: string, issueIds: readonly string[]): Promise<readonly PullRequest[]> => {
      const found: PullRequest[] = [];
      for (const some of inParts(issueIds)) {
        const rows = await db
          .selectFrom('pull_requests')
          .selectAll()
          .where('project', '=', project)
          .where('issue_id', 'in', some)
          .orderBy('issue_id')
          .orderBy('number')
          .execute();
        found.push(...new Map(rows.map((row) => [row.issue_id, pullFrom(row)])).values());
      }
      return found;
    },

    /** The open ones, by number. */
    allOpen: (project: string): Promise<readonly PullRequest[]> =>
      openReads(project, async () => {
        const rows = await db
          .selectFrom('pull_requests')
          .selectAll()
          .where('project', '=', project)
          .where('merged_at', 'is', null)
          .where('closed_at', 'is', null)
          .orderBy('number')
          .execute();
        return rows.map(pullFrom);
      }),

    /** All, the newest first, those below a number when it is given. */
    list: async (
      project: string,
      { limit, below }: { readonly limit: number; readonly below?: number },
    ): Promise<readonly PullRequest[]> => {
      const all = db.selectFrom('pull_requests').selectAll().where('project', '=', project);
      const rows = await (below === undefined ? all : all.where('number', '<', below))
        .orderBy('number', 'desc')
        .limit(limit)
        .execute();
      return rows.map(pullFrom);
    },

    /** The rounds of one, the first first. */
    rounds: async ({ project, number }: PullKey): Promise<readonly PullRound[]> => {
      const rows = await db
        .selectFrom('pull_rounds')
        .selectAll()
        .where('project', '=', project)
        .where('number', '=', number)
        .orderBy('round')
        .execute();
      return rows.map((row) => ({
        round: row.round,
        headCommit: row.head_commit,
        baseCommit: row.base_commit,
        at: row.at,
        runId: row.run_id,
        sentBack: sentBackFrom(row),
      }));
    },

    /**
     * A head is in review now. A new head begins a round: the issue has to be moved again, and an earlier approval or
     * sending back no longer counts. So does the same head after it was sent back. False when the pull request has ended,
     * or this head is in review already.
     */
    stand: (key: PullKey, head: StandingHead): Promise<boolean> =>
      atomically(db, async (inside) => {
        const isNew = await changedOne(
          openOnes(inside, key)
            .where(({ or, eb }) => or([eb('head_commit', '!=', head.headCommit), eb('sent_back_at', 'is not', null)]))
            .set({
              head_commit: head.headCommit,
              base_commit: head.baseCommit,
              standing_since: head.at,
              moved_at: null,
              ...noSendBack,
              approved_at: null,
              approved_by_json: null,
              approved_commit: null,
            }),
        );
        if (isNew) await addRound(inside, key, head);
        return isNew;
      }),

    /** The base moved while this head is in review. False when another head is. */
    setBase: (key: PullKey, headCommit: string, baseCommit: string): Promise<boolean> =>
      changedOne(openOnes(db, key).where('head_commit', '=', headCommit).set({ base_commit: baseCommit })),

    /** Its title and text, its number and address at its host, and the name of its base there. */
    describe: (
      key: PullKey,
      facts: Partial<Pick<PullRequest, 'title' | 'body' | 'hostNumber' | 'url' | 'base'>>,
    ): Promise<boolean> => {
      const { hostNumber, ...rest } = facts;
      return changedOne(
        openOnes(db, key).set({ ...rest, ...(hostNumber === undefined ? {} : { host_number: hostNumber }) }),
      );
    },

    /**
     * Its issue was moved for this head, as `movedAt` says: back if it was sent back, else to review. False when another head
     * is in review, it was sent back meanwhile, or it was moved before.
     */
    moved: (key: PullKey, headCommit: string, at: number, { isSentBack = false } = {}): Promise<boolean> =>
      changedOne(
        openOnes(db, key)
          .where('head_commit', '=', headCommit)
          .where('sent_back_at', isSentBack ? 'is not' : 'is', null)
          .where('moved_at', 'is', null)
          .set({ moved_at: at }),
      ),

    /** Its issue came into review although the head was sent back meanwhile: it is to be moved back. False when it was not. */
    moveBackAgain: (key: PullKey, headCommit: string): Promise<boolean> =>
      changedOne(
        openOnes(db, key)
          .where('head_commit', '=', headCommit)
          .where('sent_back_at', 'is not', null)
          .set({ moved_at: null }),
      ),

    /**
     * This head goes back to the agent, once. Where Baton moves its issue, that is still to be done. False when another head stands there,
     * or it was sent back before.
     */
    sendBack: (key: PullKey, headCommit: string, { at, by, kind }: SentBack): Promise<boolean> =>
      atomically(db, async (inside) => {
        const facts = { sent_back_at: at, sent_back_by_json: JSON.stringify(by), sent_back_kind: kind };
        const toBeMoved = isMovedByBaton(kind) ? { moved_at: null } : {};
        const isDone = await changedOne(
          openOnes(inside, key)
            .where('head_commit', '=', headCommit)
            .where('sent_back_at', 'is', null)
            .set((eb) => ({ ...facts, ...toBeMoved, times_sent_back: eb('times_sent_back', '+', 1) })),
        );
        if (!isDone) return false;
        await inside
          .updateTable('pull_rounds')
          .set(facts)
          .where('project', '=', key.project)
          .where('number', '=', key.number)
          .where('round', '=', (eb) =>
            eb
              .selectFrom('pull_rounds as other')
              .select(({ fn }) => fn.max('other.round').as('last'))
              .where('other.project', '=', key.project)
              .where('other.number', '=', key.number),
          )
          .execute();
        return true;
      }),

    /** False when another head is in review. */
    approve: (key: PullKey, headCommit: string, { at, by }: { at: number; by: Author }): Promise<boolean> =>
      changedOne(
        openOnes(db, key)
          .where('head_commit', '=', headCommit)
          .where('sent_back_at', 'is', null)
          .set({ approved_at: at, approved_by_json: JSON.stringify(by), approved_commit: headCommit }),
      ),

    /** The change is in its base. The first word counts: false when the pull request has ended. */
    merged: (key: PullKey, { at, by, commit, method }: Merged): Promise<boolean> =>
      changedOne(
        openOnes(db, key).set({
          merged_at: at,
          merged_by_json: JSON.stringify(by),
          merged_commit: commit,
          merged_method: method,
        }),
      ),

    /** False when it has ended. */
    close: (key: PullKey, { at, by }: { at: number; by: Author }): Promise<boolean> =>
      changedOne(openOnes(db, key).set({ closed_at: at, closed_by_json: JSON.stringify(by) })),

    /** A closed one is open again, as it was. False when it is open or merged, or its issue has another open one by now. */
    reopen: ({ project, number, issueId }: PullKey & IssueKey): Promise<boolean> =>
      atomically(db, async (inside) => {
        if ((await openOfIssue(inside, { project, issueId })) !== null) return false;
        return changedOne(
          inside
            .updateTable('pull_requests')
            .where('project', '=', project)
            .where('number', '=', number)
            .where('merged_at', 'is', null)
            .where('closed_at', 'is not', null)
            .set({ closed_at: null, closed_by_json: null }),
        );
      }),
  };
}

const noSendBack = { sent_back_at: null, sent_back_by_json: null, sent_back_kind: null };

function rowOf(draft: PullDraft, number: number) {
  return {
    project: draft.project,
    number,
    issue_id: draft.issueId,
    identifier: draft.identifier,
    title: draft.title,
    body: draft.body,
    host: draft.host,
    host_number: draft.hostNumber,
    url: draft.url,
    repository: draft.repository,
    branch: draft.branch,
    base: draft.base,
    base_commit: draft.baseCommit,
    head_commit: draft.headCommit,
    opened_at: draft.at,
    opened_by_json: JSON.stringify(draft.by),
    standing_since: draft.at,
    times_sent_back: 0,
  };
}

function pullFrom(row: Database['pull_requests']): PullRequest {
  const end = (at: number | null, by: string | null) =>
    at === null || by === null ? null : { at, by: authorFrom(by) };
  const approved = end(row.approved_at, row.approved_by_json);
  const merged = end(row.merged_at, row.merged_by_json);
  return {
    project: row.project,
    number: row.number,
    issueId: row.issue_id,
    identifier: row.identifier,
    title: row.title,
    body: row.body,
    host: row.host,
    hostNumber: row.host_number,
    url: row.url,
    repository: row.repository,
    branch: row.branch,
    base: row.base,
    baseCommit: row.base_commit,
    headCommit: row.head_commit,
    openedAt: row.opened_at,
    openedBy: authorFrom(row.opened_by_json),
    standingSince: row.standing_since,
    movedAt: row.moved_at,
    sentBack: sentBackFrom(row),
    timesSentBack: row.times_sent_back,
    approved: approved === null ? null : { ...approved, commit: row.approved_commit ?? row.head_commit },
    merged:
      merged === null ? null : { ...merged, commit: row.merged_commit ?? row.head_commit, method: row.merged_method },
    closed: end(row.closed_at, row.closed_by_json),
  };
}

function sentBackFrom({
  sent_back_at: at,
  sent_back_by_json: by,
  sent_back_kind: kind,
}: Pick<Database['pull_rounds'], 'sent_back_at' | 'sent_back_by_json' | 'sent_back_kind'>): SentBack | null {
  return at === null || by === null || kind === null ? null : { at, by: authorFrom(by), kind };
}
