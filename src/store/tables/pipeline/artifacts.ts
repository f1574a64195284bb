import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Author } from '../../../core/issue/author.ts';
import type { IssueKey } from '../../issue-key.ts';
import { authorFrom } from '../../json.ts';
import type { Database } from '../../schema.ts';
import { atomically, changedRows, ofIssue } from '../statements.ts';

/** One version of the artifact of a phase, without its text. */
export interface ArtifactVersion {
  readonly phase: string;
  /** From 1. */
  readonly version: number;
  readonly author: Author;
  readonly at: number;
  /** In bytes. */
  readonly size: number;
  readonly sha256: string;
}

export interface Artifact extends ArtifactVersion {
  readonly text: string;
}

/** The artifacts of phases, by version. A version never changes. */
export function artifactsTable(db: Kysely<Database>) {
  const old = (mergedBefore: number) =>
    db
      .selectFrom('artifacts')
      .where('artifacts.at', '<', mergedBefore)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('pull_requests')
            .select('pull_requests.number')
            .whereRef('pull_requests.project', '=', 'artifacts.project')
            .whereRef('pull_requests.issue_id', '=', 'artifacts.issue_id')
            .where('pull_requests.merged_at', '<', mergedBefore),
        ),
      );
  const newest = (key: IssueKey, phase: string, over = db) =>
    over.selectFrom('artifacts').selectAll().where(ofIssue(key)).where('phase', '=', phase).orderBy('version', 'desc');
  return {
    /** Returns its version; a text that is the newest version already is not stored again. */
    add: (
      key: IssueKey,
      { phase, text, author, at }: Pick<Artifact, 'phase' | 'text' | 'author' | 'at'>,
    ): Promise<number> =>
      atomically(db, async (inside) => {
        const sha256 = createHash('sha256').update(text).digest('hex');
        const last = await newest(key, phase, inside).limit(1).executeTakeFirst();
        if (last?.sha256 === sha256) return last.version;
        const version = (last?.version ?? 0) + 1;
        await inside
          .insertInto('artifacts')
          .values({
            project: key.project,
            issue_id: key.issueId,
            phase,
            version,
            sha256,
            at,
            body: text,
            author_json: JSON.stringify(author),
            size: Buffer.byteLength(text),
          })
          .execute();
        return version;
      }),

    read: async (key: IssueKey, phase: string, version: number): Promise<Artifact | null> => {
      const row = await newest(key, phase).where('version', '=', version).executeTakeFirst();
      return row === undefined ? null : artifactFrom(row);
    },

    /** The newest version of each phase. */
    latest: async (key: IssueKey): Promise<readonly Artifact[]> => {
      const rows = await db
        .selectFrom('artifacts')
        .selectAll()
        .where(ofIssue(key))
        .where(({ eb, selectFrom }) =>
          eb(
            'version',
            '=',
            selectFrom('artifacts as other')
              .select(({ fn }) => fn.max('other.version').as('newest'))
              .whereRef('other.project', '=', 'artifacts.project')
              .whereRef('other.issue_id', '=', 'artifacts.issue_id')
              .whereRef('other.phase', '=', 'artifacts.phase'),
          ),
        )
        .execute();
      return rows.map(artifactFrom);
    },

    /**
     * Removes at most `limit` of issues whose change was merged before this; gives how many. Those of an issue that is not
     * finished stay, however old: a later run needs them.
     */
    prune: (mergedBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('artifacts')
          .where((eb) =>
            eb(
              eb.refTuple('project', 'issue_id', 'phase', 'version'),
              'in',
              old(mergedBefore)
                .select(['artifacts.project', 'artifacts.issue_id', 'artifacts.phase', 'artifacts.version'])
                .limit(limit)
                .$asTuple('project', 'issue_id', 'phase', 'version'),
            ),
          ),
      ),

    countOld: async (mergedBefore: number): Promise<{ readonly count: number; readonly bytes: number }> => {
      const found = await old(mergedBefore)
        .select([sql<number>`count(*)`.as('count'), sql<number>`cast(coalesce(sum(size), 0) as bigint)`.as('bytes')])
        .executeTakeFirstOrThrow();
      return { count: Number(found.count), bytes: Number(found.bytes) };
    },

    /** All versions, the newest first, without their texts. */
    list: async (key: IssueKey): Promise<readonly ArtifactVersion[]> => {
      const rows = await db
        .selectFrom('artifacts')
        .select(['phase', 'version', 'author_json', 'at', 'size', 'sha256'])
        .where(ofIssue(key))
        .orderBy('at', 'desc')
        .orderBy('version', 'desc')
        .execute();
      return rows.map(versionFrom);
    },
  };
}

function versionFrom(row: Omit<Database['artifacts'], 'project' | 'issue_id' | 'body'>): ArtifactVersion {
  const { phase, version, at, size, sha256 } = row;
  return { phase, version, author: authorFrom(row.author_json), at, size, sha256 };
}

function artifactFrom(row: Database['artifacts']): Artifact {
  return { ...versionFrom(row), text: row.body };
}
