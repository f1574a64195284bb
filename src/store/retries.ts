import type { RetryKind } from '../core/workflow.ts';
import type { IssueKey } from './issue-key.ts';

/** Promises to look at an issue again; at most one an issue. */
export interface Retries {
  /** A new one takes the place of the old. */
  put(retry: Retry): Promise<void>;
  /** False when there was none. */
  remove(key: IssueKey): Promise<boolean>;
  /** By due time. */
  list(project: string): Promise<readonly Retry[]>;
}

export interface Retry extends IssueKey {
  readonly identifier: string;
  readonly kind: RetryKind;
  readonly attempt: number;
  readonly failures: number;
  readonly dueAt: number;
  readonly error: string | null;
  readonly slotWaits: number;
}
