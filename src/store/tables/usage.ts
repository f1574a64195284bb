import type { IssueKey } from '../issue-key.ts';

/** Tokens and money by UTC day, issue and role; it stays when runs are pruned. */
export interface Usage {
  add(usage: UsageAmount): Promise<void>;
  sumByDay(project: string, query: UsageDays): Promise<readonly UsageSum[]>;
  sumByRole(project: string, query: UsageDays): Promise<readonly UsageOfRole[]>;
  /** Those that used the most tokens first. */
  sumByIssue(project: string, query: UsageDays & { readonly limit: number }): Promise<readonly UsageOfIssue[]>;
  sumOfIssue(key: IssueKey): Promise<UsageSum>;
}

/** Both included. */
export interface UsageDays {
  readonly fromDay: string;
  readonly toDay: string;
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

export interface UsageOfRole extends Omit<UsageSum, 'day'> {
  readonly role: string;
}

export interface UsageOfIssue extends Omit<UsageSum, 'day'> {
  readonly issueId: string;
  /** By its last run that is still known; null when none is. */
  readonly identifier: string | null;
}
