import type { RecoveryStep } from '../../core/run/context-recovery.ts';
import type { RunEnd } from '../../core/run/run.ts';
import type { RunEvidence } from '../../core/run/run-evidence.ts';
import type { RetryKind } from '../../core/workflow.ts';
import type { IssueKey } from '../issue-key.ts';

/**
 * The runs: what was started, what is known of it, how it ended. A run without an end is, or was, in progress. What came
 * first and what last goes by the order of the starts in the store, never by a clock: that can be set back.
 */
export interface Runs {
  start(run: RunStart): Promise<void>;
  /** Adds facts to a run in progress; false when it has ended, is unknown, or was started with another generation. */
  record(runId: string, generation: number, facts: RunFacts): Promise<boolean>;
  /** Ends a run once; false when it has ended already, is unknown, or was started with another generation. */
  finish(runId: string, generation: number, end: RunFinish): Promise<boolean>;
  read(runId: string): Promise<RunRecord | null>;
  /** Newest first; with `before` those that come after that one in this order. */
  list(
    project: string,
    query: { readonly issueId?: string; readonly limit: number; readonly before?: RunPlace },
  ): Promise<readonly RunRecord[]>;
  /** The one that started last; null when there was none. */
  latestOfIssue(key: IssueKey): Promise<RunRecord | null>;
  /** The newest run of the issue that a person means by its id or, whatever its case, by its identifier; null: there is none. */
  latestNamed(project: string, name: string): Promise<RunRecord | null>;
  /** Of each of these issues when a run last started, by the clock of then; nothing for those that no run is known of. */
  latestStarts(project: string, issueIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Of each of these issues the run that started last; nothing for those that no run is known of. */
  latestOfIssues(project: string, issueIds: readonly string[]): Promise<readonly RunRecord[]>;
  /** Of each of these workspaces the run in it that started last; nothing for those that no run is known of. */
  latestInWorkspaces(project: string, workspaces: readonly string[]): Promise<readonly RunRecord[]>;
  /** Replaces the evidence of a run, also after its end; false when the run is unknown. */
  noteEvidence(runId: string, evidence: RunEvidence): Promise<boolean>;
  /** Keeps a note for the run after this one, also after its end; false when the run is unknown. */
  keepNote(runId: string, note: string): Promise<boolean>;
  /** Notes what became of the workspace of a run, also after its end; false when the run is unknown. */
  noteRemoval(runId: string, removal: WorkspaceRemoval): Promise<boolean>;
  /** The oldest first. */
  unfinished(project: string): Promise<readonly RunRecord[]>;
  countByIssue(key: IssueKey): Promise<number>;
  /** Removes at most `limit` finished runs that ended before `endedBefore`, with their events. Gives the ids removed. */
  prune(endedBefore: number, limit: number): Promise<readonly string[]>;
}

/** Where a run stands in the order of starts: a few may have the same number. */
export type RunPlace = Pick<RunRecord, 'seq' | 'runId'>;

export interface RunStart extends IssueKey {
  readonly runId: string;
  readonly identifier: string;
  readonly generation: number;
  readonly role: string;
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  /** What it does differently because the one before it died of its context; absent or null for an ordinary one. */
  readonly recovery?: RecoveryStep | null;
  /** What a person wants its agent to know; null as soon as that was told, so that the next run knows what was not. */
  readonly note?: string | null;
  readonly backend: string;
  /** The account whose quota it uses. */
  readonly account: string | null;
  readonly host: string;
  readonly startedAt: number;
}

/** What becomes known while a run goes on. Token figures are totals of the run and never fall. */
export interface RunFacts {
  readonly pid?: number;
  readonly pidStartTime?: number | null;
  readonly workspace?: string;
  readonly evidence?: RunEvidence;
  readonly threadId?: string | null;
  /** The agent was told the note. */
  readonly note?: null;
  readonly turns?: number;
  /** The last thing the agent said, cut to 4 KB by the store; for a summary. */
  readonly lastMessage?: string;
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

/** What became of a workspace when it was to be removed. */
export interface WorkspaceRemoval {
  readonly at: number;
  /** Why it is still there; null when it is gone. */
  readonly keptBecause: string | null;
  /** What was saved before. */
  readonly saved: readonly SavedBefore[];
}

export interface SavedBefore {
  readonly name: string;
  readonly files: number;
  readonly commits: number;
  /** The command that brings it back. */
  readonly restore: string;
}

export interface RunRecord extends RunStart {
  /** Grows with each run that starts in the project. */
  readonly seq: number;
  readonly pid: number | null;
  readonly pidStartTime: number | null;
  readonly workspace: string | null;
  readonly threadId: string | null;
  readonly turns: number;
  readonly lastMessage: string | null;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  readonly costMicroUsd: number;
  /** Null while it is in progress. */
  readonly finish: RunFinish | null;
  readonly evidence: RunEvidence | null;
  readonly removal: WorkspaceRemoval | null;
}
