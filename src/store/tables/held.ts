import type { Kysely } from 'kysely';
import { type Role, roleOf } from '../../core/run/role.ts';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import { changedOne, ofIssue } from './statements.ts';

export interface HeldIssue extends IssueKey {
  readonly identifier: string;
  /** Of the run that led to it, and of the one that follows it; absent: a worker's. */
  readonly role?: Role;
  /** For programs: an error code, or what else holds it, such as `person`. */
  readonly code: string;
  readonly reason: string;
  readonly since: number;
  readonly runId: string | null;
}

const columns = [
  'project',
  'issue_id as issueId',
  'identifier',
  'role',
  'code',
  'reason',
  'since',
  'run_id as runId',
] as const;

/** Issues that wait for a person; at most one entry per issue. */
export function heldTable(db: Kysely<Database>) {
  return {
    put: async ({
      project,
      issueId,
      identifier,
      role = 'worker',
      code,
      reason,
      since,
      runId,
    }: HeldIssue): Promise<void> => {
      const facts = { identifier, role, code, reason, since, run_id: runId };
      await db
        .insertInto('held')
        .values({ project, issue_id: issueId, ...facts })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doUpdateSet(facts))
        .execute();
    },

    remove: (key: IssueKey): Promise<boolean> => changedOne(db.deleteFrom('held').where(ofIssue(key))),

    list: async (project: string): Promise<readonly HeldIssue[]> => {
      const rows = await db
        .selectFrom('held')
        .select(columns)
        .where('project', '=', project)
        .orderBy('since')
        .orderBy('issue_id')
        .execute();
      return rows.map((row) => ({ ...row, role: roleOf(row.role) }));
    },
  };
}
