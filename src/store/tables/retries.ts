import type { Kysely } from 'kysely';
import { type RecoveryStep, recoverySteps } from '../../core/run/context-recovery.ts';
import { type Role, roleOf } from '../../core/run/role.ts';
import type { RetryKind } from '../../core/workflow.ts';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import { changedOne, ofIssue } from './statements.ts';

export interface Retry extends IssueKey {
  readonly identifier: string;
  readonly url: string | null;
  /** Of the next run; absent: a worker's. */
  readonly role?: Role;
  /** Null where no run came before: the issue is checked again, but was never started. */
  readonly kind: RetryKind | null;
  /** For the next run; null is the value of a first run. */
  readonly attempt: number | null;
  readonly failures: number;
  /** Runs in a row after which nothing had changed. */
  readonly staleRuns: number;
  readonly dueAt: number;
  /** Why it is retried. */
  readonly error: string | null;
  /** How the next run recovers, after one that died of its context; null for an ordinary one. */
  readonly recovery: RecoveryStep | null;
  /** The agent that a person chose for the next run; null: the rules choose. */
  readonly agent?: string | null;
}

const columns = [
  'project',
  'issue_id as issueId',
  'identifier',
  'url',
  'role',
  'kind',
  'attempt',
  'failures',
  'stale_runs as staleRuns',
  'due_at as dueAt',
  'error',
  'recovery',
  'agent',
] as const;

/** Scheduled retries; at most one per issue. */
export function retriesTable(db: Kysely<Database>) {
  return {
    /** A new one takes the place of the old. */
    put: async (retry: Retry): Promise<void> => {
      const facts = {
        identifier: retry.identifier,
        url: retry.url,
        role: retry.role ?? 'worker',
        kind: retry.kind,
        attempt: retry.attempt,
        failures: retry.failures,
        stale_runs: retry.staleRuns,
        due_at: retry.dueAt,
        error: retry.error,
        recovery: retry.recovery,
        agent: retry.agent ?? null,
      };
      await db
        .insertInto('retries')
        .values({ project: retry.project, issue_id: retry.issueId, ...facts })
        .onConflict((conflict) => conflict.columns(['project', 'issue_id']).doUpdateSet(facts))
        .execute();
    },

    /** False when there was none. */
    remove: (key: IssueKey): Promise<boolean> => changedOne(db.deleteFrom('retries').where(ofIssue(key))),

    read: async (key: IssueKey): Promise<Retry | null> => {
      const row = await db.selectFrom('retries').select(columns).where(ofIssue(key)).executeTakeFirst();
      return row === undefined ? null : withKnownValues(row);
    },

    /** By due time. */
    list: async (project: string): Promise<readonly Retry[]> => {
      const rows = await db
        .selectFrom('retries')
        .select(columns)
        .where('project', '=', project)
        .orderBy('due_at')
        .orderBy('issue_id')
        .execute();
      return rows.map(withKnownValues);
    },
  };
}

/** A recovery step of a later Baton is unknown here: the run is then an ordinary one. */
function withKnownValues({ role, ...retry }: Omit<Retry, 'role'> & { readonly role: string }): Retry {
  const isKnown = retry.recovery === null || recoverySteps.includes(retry.recovery);
  return { ...retry, role: roleOf(role), recovery: isKnown ? retry.recovery : null };
}
