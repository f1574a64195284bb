import type { IssueKey } from './issue-key.ts';

/** Tokens and money by UTC day, issue and role; it stays when runs are pruned. */
export interface Usage {
  add(usage: UsageAmount): Promise<void>;
  sumByDay(project: string, query: { readonly fromDay: string; readonly toDay: string }): Promise<readonly UsageSum[]>;
  sumOfIssue(key: IssueKey): Promise<UsageSum>;
}

export interface UsageAmount extends IssueKey {
  /** `2026-11-15`. */
  readonly day: string;
  readonly role: string;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  readonly costMicroUsd: number;
  readonly runs: number;
}

export interface UsageSum extends Omit<UsageAmount, 'project' | 'issueId' | 'role' | 'day'> {
  /** Null for a sum over all days. */
  readonly day: string | null;
}
