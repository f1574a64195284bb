import type { Kysely } from 'kysely';
import type { Author } from '../../../core/issue/author.ts';
import type { ClaimState, CompletionClaim, Shortcoming } from '../../../core/pipeline/completion.ts';
import type { Opinion } from '../../../core/pull/judge.ts';
import type { IssueKey } from '../../issue-key.ts';
import { authorFrom, fromJsonText, textsFrom } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { changedOne, ofIssue } from '../statements.ts';

export interface StoredCompletion extends CompletionClaim {
  readonly state: ClaimState;
  /** What was wrong with it when it was made. */
  readonly found: readonly Shortcoming[];
  /** Why it did not count, or the warnings with which it did. */
  readonly reasons: readonly string[];
  /** Of its judge, or of a person in the judge's place. */
  readonly opinion: Opinion | null;
  readonly judgedBy: Author | null;
  /** Null while it is open. */
  readonly decidedAt: number | null;
}

export interface ClaimDecision {
  readonly state: Exclude<ClaimState, 'pending'>;
  readonly reasons: readonly string[];
  readonly at: number;
  readonly opinion?: Opinion;
  readonly by?: Author;
}

/**
 * The completion claims of agents. What must hold: an issue has at most one open claim, and a claim is decided once,
 * whichever daemon decides it.
 */
export function completionClaimsTable(db: Kysely<Database>) {
  const all = () => db.selectFrom('completion_claims').selectAll();
  const open = () => all().where('decided_at', 'is', null);
  return {
    /** A new claim takes the place of an open one. */
    add: async (
      { project, issueId }: IssueKey,
      claim: CompletionClaim & Pick<StoredCompletion, 'found'>,
    ): Promise<void> => {
      await db
        .updateTable('completion_claims')
        .set({ state: 'replaced', decided_at: claim.at })
        .where(ofIssue({ project, issueId }))
        .where('decided_at', 'is', null)
        .execute();
      await db
        .insertInto('completion_claims')
        .values({
          id: claim.id,
          project,
          issue_id: issueId,
          phase: claim.phase,
          run_id: claim.runId,
          path: claim.path,
          version: claim.version,
          summary: claim.summary,
          skip_to: claim.skipTo,
          at: claim.at,
          state: 'pending',
          found_json: JSON.stringify(claim.found),
          reasons_json: '[]',
        })
        .execute();
    },

    /** False when it is not in this state any more: someone else decided it. */
    decide: (id: string, from: 'pending' | 'judging', decision: ClaimDecision): Promise<boolean> => {
      const { state, reasons, at, opinion, by } = decision;
      return changedOne(
        db
          .updateTable('completion_claims')
          .set({
            state,
            reasons_json: JSON.stringify(reasons),
            decided_at: state === 'judging' ? null : at,
            ...(opinion === undefined ? {} : { opinion_json: JSON.stringify(opinion) }),
            ...(by === undefined ? {} : { judged_by_json: JSON.stringify(by) }),
          })
          .where('id', '=', id)
          .where('state', '=', from),
      );
    },

    openOf: async (key: IssueKey): Promise<StoredCompletion | null> => {
      const row = await open().where(ofIssue(key)).executeTakeFirst();
      return row === undefined ? null : claimFrom(row);
    },

    /** The open claims of a project, by the id of the issue. */
    allOpen: async (project: string): Promise<ReadonlyMap<string, StoredCompletion>> => {
      const rows = await open().where('project', '=', project).execute();
      return new Map(rows.map((row) => [row.issue_id, claimFrom(row)]));
    },

    /** The newest first. */
    list: async (key: IssueKey, limit: number): Promise<readonly StoredCompletion[]> => {
      const rows = await all().where(ofIssue(key)).orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute();
      return rows.map(claimFrom);
    },
  };
}

function claimFrom(row: Database['completion_claims']): StoredCompletion {
  const { id, phase, path, version, summary, at, state } = row;
  return {
    id,
    phase,
    path,
    version,
    summary,
    at,
    state,
    runId: row.run_id,
    skipTo: row.skip_to,
    // Only the JSON of these types is written.
    found: fromJsonText(row.found_json) as readonly Shortcoming[],
    reasons: textsFrom(row.reasons_json),
    opinion: fromJsonText(row.opinion_json) as Opinion | null,
    judgedBy: row.judged_by_json === null ? null : authorFrom(row.judged_by_json),
    decidedAt: row.decided_at,
  };
}
