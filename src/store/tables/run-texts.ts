import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { inParts } from './statements.ts';

export interface RunText {
  readonly project: string;
  readonly kind: 'issue' | 'comment';
  /** The id that the tracker has for the issue or the comment. */
  readonly textId: string;
  readonly runId: string;
  readonly at: number;
}

/**
 * Issues and comments of other trackers whose text a run wrote. Kept for good: such text is never trusted. The rows of
 * kind `file` belong to the table of runs.
 */
export function runTextsTable(db: Kysely<Database>) {
  return {
    /** The first run that wrote it stays. */
    put: async ({ project, kind, textId, runId, at }: RunText): Promise<void> => {
      await db
        .insertInto('run_texts')
        .values({ project, kind, text_id: textId, run_id: runId, at })
        .onConflict((conflict) => conflict.columns(['project', 'kind', 'text_id']).doNothing())
        .execute();
    },

    /** Those of these ids whose text a run wrote. */
    among: async (project: string, kind: RunText['kind'], ids: readonly string[]): Promise<ReadonlySet<string>> => {
      const found = new Set<string>();
      for (const some of inParts(ids)) {
        const rows = await db
          .selectFrom('run_texts')
          .select('text_id')
          .where('project', '=', project)
          .where('kind', '=', kind)
          .where('text_id', 'in', some)
          .execute();
        for (const row of rows) found.add(row.text_id);
      }
      return found;
    },
  };
}
