/** A statement with its parameters, for both ways in which the file is opened. */
export interface FencingStatement {
  readonly text: string;
  readonly parameters: readonly (string | number)[];
}

export interface GenerationBefore {
  readonly project: string;
  readonly issueId: string;
  readonly generation: number;
}

/** What `GenerationBefore` is read with, from a store of any version. */
export const generationsBefore = 'select project, issue_id as "issueId", generation from claims';

/**
 * Makes a restored store safe from earlier holders of claims, at the moment of the backup or since: every
 * generation becomes larger than it was in either, so that all of their writes are refused. And the lease of every
 * claim is over, as if its holder had died: it may be taken at once. Uses only what the first version had.
 */
export function fencingStatements(before: readonly GenerationBefore[]): readonly FencingStatement[] {
  return [
    ...before.map(({ project, issueId, generation }) => ({
      text: `insert into claims (project, issue_id, generation, claimed_at, lease_until) values (?, ?, ?, 0, 0)
        on conflict (project, issue_id) do update set generation = excluded.generation
        where claims.generation < excluded.generation`,
      parameters: [project, issueId, generation],
    })),
    { text: 'update claims set generation = generation + 1, lease_until = 0', parameters: [] },
  ];
}
