import type { RunEnd } from '../core/run.ts';
import type { RetryKind } from '../core/workflow.ts';
import type { IssueKey } from './issue-key.ts';

/** The runs: what was started, what is known of it, how it ended. A run without an end is, or was, in progress. */
export interface Runs {
  start(run: RunStart): Promise<void>;
  /** Adds facts to a run in progress; false when it has ended, is unknown, or was started with another generation. */
  record(runId: string, generation: number, facts: RunFacts): Promise<boolean>;
  /** Ends a run once; false when it has ended already, is unknown, or was started with another generation. */
  finish(runId: string, generation: number, end: RunFinish): Promise<boolean>;
  read(runId: string): Promise<RunRecord | null>;
  /** Newest first. */
  list(
    project: string,
    query: { readonly issueId?: string; readonly limit: number; readonly before?: number },
  ): Promise<readonly RunRecord[]>;
  /** The one that started last; null when there was none. */
  latestOfIssue(key: IssueKey): Promise<RunRecord | null>;
  /** The oldest first. */
  unfinished(project: string): Promise<readonly RunRecord[]>;
  countByIssue(key: IssueKey): Promise<number>;
  /** Removes at most `limit` finished runs that ended before `endedBefore`, with their events. Gives the ids removed. */
  prune(endedBefore: number, limit: number): Promise<readonly string[]>;
}

export interface RunStart extends IssueKey {
  readonly runId: string;
  readonly identifier: string;
  readonly generation: number;
  readonly role: string;
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  readonly backend: string;
  readonly host: string;
  readonly startedAt: number;
}

/** What becomes known while a run goes on. Token figures are totals of the run and never fall. */
export interface RunFacts {
  readonly pid?: number;
  readonly pidStartTime?: number | null;
  readonly workspace?: string;
  readonly threadId?: string | null;
  readonly turns?: number;
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  readonly totalTokens?: number;
  /** In millionths of a US dollar, so that sums are exact. */
  readonly costMicroUsd?: number;
}

export interface RunFinish {
  readonly endedAt: number;
  readonly outcome: RunEnd;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

export interface RunRecord extends RunStart {
  readonly pid: number | null;
  readonly pidStartTime: number | null;
  readonly workspace: string | null;
  readonly threadId: string | null;
  readonly turns: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  readonly costMicroUsd: number;
  /** Null while it is in progress. */
  readonly finish: RunFinish | null;
}
