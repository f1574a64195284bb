import type { RecoveryStep } from '../../core/run/context-recovery.ts';
import type { RetryKind } from '../../core/workflow.ts';
import type { IssueKey } from '../issue-key.ts';

/** Promises to look at an issue again; at most one an issue. */
export interface Retries {
  /** A new one takes the place of the old. */
  put(retry: Retry): Promise<void>;
  /** False when there was none. */
  remove(key: IssueKey): Promise<boolean>;
  read(key: IssueKey): Promise<Retry | null>;
  /** By due time. */
  list(project: string): Promise<readonly Retry[]>;
}

export interface Retry extends IssueKey {
  readonly identifier: string;
  readonly url: string | null;
  /** Null where no run came before: what is looked at again was never started. */
  readonly kind: RetryKind | null;
  /** What the next run gets; null is what a first run has. */
  readonly attempt: number | null;
  readonly failures: number;
  /** Runs in a row after which nothing had changed. */
  readonly staleRuns: number;
  readonly dueAt: number;
  /** Why it is retried. */
  readonly error: string | null;
  /** What the next run does differently, after one that died of its context; null for an ordinary one. */
  readonly recovery: RecoveryStep | null;
  /** What a person wants the agent to know. */
  readonly note: string | null;
}
