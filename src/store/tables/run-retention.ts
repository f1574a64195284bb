import type { Kysely } from 'kysely';
import type { PublishedBranch } from '../../core/prune.ts';
import type { Publication, RunEvidence } from '../../core/run/run-evidence.ts';
import { fromJsonText } from '../json.ts';
import type { Database } from '../schema.ts';
import { keepForPrompts } from './prompts/prompt-runs.ts';
import { atomically, inParts } from './statements.ts';

/** What is asked of past runs, and how they are removed. */
export function runRetention(db: Kysely<Database>) {
  return {
    /**
     * The branches that Baton made for issues whose runs all ended before this. A branch that was there before Baton
     * published to it belongs to a person, and is not among them.
     */
    publishedBranches: async (project: string, endedBefore: number): Promise<readonly PublishedBranch[]> => {
      const rows = await db
        .selectFrom('runs')
        .select(['run_id', 'issue_id', 'identifier', 'workspace', 'ended_at'])
        .select((eb) =>
          eb.case().when('evidence_json', 'like', '%"publication"%').then(eb.ref('evidence_json')).end().as('evidence'),
        )
        .where('project', '=', project)
        .orderBy('seq')
        .execute();
      const byIssue = Map.groupBy(rows, (row) => row.issue_id);
      return [...byIssue].flatMap(([issueId, runs]) => {
        const idleSince = Math.max(...runs.map((run) => run.ended_at ?? Number.POSITIVE_INFINITY));
        const published = runs.flatMap((run) => {
          const publication = publicationIn(run.evidence);
          return publication?.outcome === 'published' ? [{ ...publication, run }] : [];
        });
        const [first, last] = [published[0], published.at(-1)];
        if (first?.before !== null || last === undefined || idleSince >= endedBefore) return [];
        const { branch, base, commit, run } = last;
        if (branch === null || base === undefined || commit === null) return [];
        const workspaces = [...new Set(runs.flatMap(({ workspace }) => workspace ?? []))];
        return [
          { issueId, identifier: run.identifier, runId: run.run_id, branch, base, commit, idleSince, workspaces },
        ];
      });
    },

    /**
     * The files that control agents or CI in all that runs ever published; null for a publication that could not be read.
     * Outlives the runs: a branch may be merged at any time.
     */
    governedFiles: async (project: string): Promise<readonly (string | null)[]> => {
      const kept = await db
        .selectFrom('run_texts')
        .select('text_id')
        .where('project', '=', project)
        .where('kind', '=', 'file')
        .execute();
      const rows = await marked(db).where('project', '=', project).execute();
      return [...kept.map(({ text_id: file }) => file || null), ...rows.flatMap(filesOf)];
    },

    /** The ids of finished runs that ended before this. */
    old: async (endedBefore: number): Promise<readonly string[]> => {
      const rows = await db.selectFrom('runs').select('run_id').where('ended_at', '<', endedBefore).execute();
      return rows.map((row) => row.run_id);
    },

    /** Those of these ids that no run has. */
    unknown: async (runIds: readonly string[]): Promise<readonly string[]> => {
      const known = new Set<string>();
      for (const some of inParts(runIds)) {
        const rows = await db.selectFrom('runs').select('run_id').where('run_id', 'in', some).execute();
        for (const row of rows) known.add(row.run_id);
      }
      return runIds.filter((runId) => !known.has(runId));
    },

    /**
     * Removes at most `limit` finished runs that ended before `endedBefore`, with their events; only the files that they
     * governed, and what the metrics of prompts need, stay. Gives the ids removed.
     */
    prune: (endedBefore: number, limit: number): Promise<readonly string[]> =>
      atomically(db, async (inside) => {
        const old = await inside
          .selectFrom('runs')
          .select('run_id')
          .where('ended_at', '<', endedBefore)
          .orderBy('ended_at')
          .limit(limit)
          .execute();
        const ids = old.map((row) => row.run_id);
        if (ids.length === 0) return ids;
        for (const run of await marked(inside).where('run_id', 'in', ids).execute())
          for (const file of filesOf(run))
            await inside
              .insertInto('run_texts')
              .values({
                project: run.project,
                kind: 'file',
                text_id: file ?? '',
                run_id: run.run_id,
                at: run.started_at,
              })
              .onConflict((conflict) => conflict.columns(['project', 'kind', 'text_id']).doNothing())
              .execute();
        await keepForPrompts(inside, ids);
        // Their events go with them: the foreign key cascades.
        await inside.deleteFrom('runs').where('run_id', 'in', ids).execute();
        return ids;
      }),
  };
}

function publicationIn(evidence: string | null): Publication | undefined {
  return (fromJsonText(evidence) as RunEvidence | null)?.publication;
}

/** Runs whose published change touches files that control agents or CI, or could not be read. */
function marked(db: Kysely<Database>) {
  return db
    .selectFrom('runs')
    .select(['run_id', 'project', 'started_at', 'evidence_json'])
    .where((eb) =>
      eb.or([eb('evidence_json', 'like', '%"governing":["%'), eb('evidence_json', 'like', '%"governing":null%')]),
    );
}

function filesOf({ evidence_json: json }: { readonly evidence_json: string | null }): readonly (string | null)[] {
  return (fromJsonText(json) as RunEvidence).publication?.governing ?? [null];
}
