import { type Kysely, sql } from 'kysely';
import type { LabelWrite, PhaseRecord } from '../../../core/pipeline/phase.ts';
import type { Engine } from '../../engine.ts';
import type { IssueKey } from '../../issue-key.ts';
import { fromJsonText, textsFrom } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { changedOne, inParts, lockedRow, ofIssue } from '../statements.ts';

/** Where issues stand in the pipeline; an issue that never entered it has no row. */
export function phasesTable(db: Kysely<Database>, engine: Engine['name']) {
  const all = () => db.selectFrom('phases').selectAll();
  // The clock of the database is the same for every daemon.
  const now = engine === 'postgres' ? postgresNow : sqliteNow;
  const later = engine === 'postgres' ? sql.raw('greatest') : sql.raw('max');
  /** Of a row that is there. */
  const changed = { changed_at: sql<number>`${later}(${now}, phases.changed_at + 1)` };
  return {
    read: async (key: IssueKey): Promise<PhaseRecord | null> => {
      const row = await all().where(ofIssue(key)).executeTakeFirst();
      return row === undefined ? null : recordFrom(row);
    },

    /** For a change that depends on it, in an open transaction: no one else changes it until that ends. */
    lock: async (key: IssueKey): Promise<PhaseRecord | null> => {
      const row = await lockedRow(db, engine, all().where(ofIssue(key)));
      return row === undefined ? null : recordFrom(row);
    },

    /** By the id of the issue. */
    readAll: async (project: string, issueIds: readonly string[]): Promise<ReadonlyMap<string, PhaseRecord>> => {
      const found = new Map<string, PhaseRecord>();
      for (const some of inParts(issueIds)) {
        const rows = await all().where('project', '=', project).where('issue_id', 'in', some).execute();
        for (const row of rows) found.set(row.issue_id, recordFrom(row));
      }
      return found;
    },

    /**
     * What was written since an earlier call: the issues, each with the mark of its last write, and the mark for the next
     * call. An issue may come again with the same mark, because a write is visible only when its transaction has ended.
     * Without a mark no issue is named.
     */
    changes: async (
      project: string,
      since: number | null,
    ): Promise<{ readonly mark: number; readonly written: ReadonlyMap<string, number> }> => {
      const of = db.selectFrom('phases').where('project', '=', project);
      if (since === null) {
        const newest = await of.select(({ fn }) => fn.max('changed_at').as('mark')).executeTakeFirst();
        return { mark: Number(newest?.mark ?? 0), written: new Map() };
      }
      const rows = await of
        .select(['issue_id', 'changed_at'])
        .where('changed_at', '>=', since - longestTransactionMs)
        .execute();
      const written = new Map(rows.map((row) => [row.issue_id, row.changed_at]));
      return { mark: Math.max(since, ...written.values()), written };
    },

    /** Those in any phase but this one, the longest in their phase first; by the id of the issue. */
    list: async (
      project: string,
      { not, limit }: { readonly not: string; readonly limit: number },
    ): Promise<ReadonlyMap<string, PhaseRecord>> => {
      const wanted = all().where('project', '=', project).where('phase', '!=', not).orderBy('since').limit(limit);
      return new Map((await wanted.execute()).map((row) => [row.issue_id, recordFrom(row)]));
    },

    /** Of an issue that has a record, what is known about its labels stays. */
    put: async ({ project, issueId }: IssueKey, record: PhaseRecord): Promise<void> => {
      const { phase, since, revisions, revisionSince, skipped, mirrored, mirroredAt, mirroring } = record;
      const facts = { phase, since, revisions, revision_since: revisionSince, skipped_json: JSON.stringify(skipped) };
      await db
        .insertInto('phases')
        .values({
          project,
          issue_id: issueId,
          ...facts,
          mirrored_at: mirroredAt,
          changed_at: now,
          mirrored_json: jsonOrNull(mirrored),
          mirroring_json: jsonOrNull(mirroring),
        })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doUpdateSet({ ...facts, ...changed }))
        .execute();
    },

    /** Before labels are written: after a crash they may be in the tracker. */
    setMirroring: async (key: IssueKey, write: LabelWrite): Promise<void> => {
      await db
        .updateTable('phases')
        .set({ mirroring_json: JSON.stringify(write), ...changed })
        .where(ofIssue(key))
        .execute();
    },

    /**
     * The tracker has these labels of Baton, at this time of its own; everything else stays, also what changed meanwhile.
     * With `write`, only if that is still the last one that began.
     */
    setMirrored: async (
      key: IssueKey,
      labels: readonly string[],
      at: number | null,
      write?: LabelWrite,
    ): Promise<void> => {
      await db
        .updateTable('phases')
        .set({ mirrored_json: JSON.stringify(labels), mirrored_at: at, mirroring_json: null, ...changed })
        .where(ofIssue(key))
        .$if(write !== undefined, (update) => update.where('mirroring_json', '=', JSON.stringify(write)))
        .execute();
    },

    /** Removes the mark of a revision that has been open since before this; false when there is none. */
    expireRevision: (key: IssueKey, before: number): Promise<boolean> =>
      changedOne(
        db
          .updateTable('phases')
          .set({ revision_since: null, ...changed })
          .where(ofIssue(key))
          .where('revision_since', '<=', before),
      ),

    clearRevisions: async (key: IssueKey): Promise<void> => {
      await db
        .updateTable('phases')
        .set({ revisions: 0, ...changed })
        .where(ofIssue(key))
        .where('revisions', '!=', 0)
        .execute();
    },

    /** The issues whose artifact has waited for a revision since before this. */
    inRevision: async (project: string, before: number): Promise<readonly string[]> => {
      const rows = await db
        .selectFrom('phases')
        .select('issue_id')
        .where('project', '=', project)
        .where('revision_since', '<=', before)
        .execute();
      return rows.map(({ issue_id }) => issue_id);
    },
  };
}

/** A write of a longer transaction is found with the next write of its issue. */
const longestTransactionMs = 60_000;

const postgresNow = sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;
const sqliteNow = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;

function recordFrom(row: Database['phases']): PhaseRecord {
  return {
    phase: row.phase,
    since: row.since,
    revisions: row.revisions,
    revisionSince: row.revision_since,
    skipped: textsFrom(row.skipped_json),
    mirrored: row.mirrored_json === null ? null : textsFrom(row.mirrored_json),
    mirroredAt: row.mirrored_at,
    // Only the JSON of this type is written.
    mirroring: fromJsonText(row.mirroring_json) as LabelWrite | null,
  };
}

function jsonOrNull(value: readonly string[] | LabelWrite | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
