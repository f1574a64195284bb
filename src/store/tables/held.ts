import type { IssueKey } from '../issue-key.ts';

/** Issues that wait for a person; at most one entry an issue. */
export interface Held {
  put(entry: HeldIssue): Promise<void>;
  remove(key: IssueKey): Promise<boolean>;
  list(project: string): Promise<readonly HeldIssue[]>;
}

export interface HeldIssue extends IssueKey {
  readonly identifier: string;
  /** For programs: an error code, or what else holds it, such as `person`. */
  readonly code: string;
  readonly reason: string;
  readonly since: number;
  readonly runId: string | null;
}
