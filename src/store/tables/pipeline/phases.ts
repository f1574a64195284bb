import type { Kysely } from 'kysely';
import type { LabelWrite, PhaseRecord } from '../../../core/pipeline/phase.ts';
import type { Engine } from '../../engine.ts';
import type { IssueKey } from '../../issue-key.ts';
import { fromJsonText, textsFrom } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { changedOne, inParts, lockedRow, ofIssue } from '../statements.ts';

/** Where issues stand in the pipeline; an issue that never entered it has no row. */
export function phasesTable(db: Kysely<Database>, engine: Engine['name']) {
  const all = () => db.selectFrom('phases').selectAll();
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
          ...{ project, issue_id: issueId, ...facts, mirrored_at: mirroredAt },
          ...{ mirrored_json: jsonOrNull(mirrored), mirroring_json: jsonOrNull(mirroring) },
        })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doUpdateSet(facts))
        .execute();
    },

    /** Before labels are written: after a crash they may be in the tracker. */
    setMirroring: async (key: IssueKey, write: LabelWrite): Promise<void> => {
      await db
        .updateTable('phases')
        .set({ mirroring_json: JSON.stringify(write) })
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
        .set({ mirrored_json: JSON.stringify(labels), mirrored_at: at, mirroring_json: null })
        .where(ofIssue(key))
        .$if(write !== undefined, (update) => update.where('mirroring_json', '=', JSON.stringify(write)))
        .execute();
    },

    /** Removes the mark of a revision that has been open since before this; false when there is none. */
    expireRevision: (key: IssueKey, before: number): Promise<boolean> =>
      changedOne(
        db
          .updateTable('phases')
          .set({ revision_since: null })
          .where(ofIssue(key))
          .where('revision_since', '<=', before),
      ),

    clearRevisions: async (key: IssueKey): Promise<void> => {
      await db.updateTable('phases').set({ revisions: 0 }).where(ofIssue(key)).execute();
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
