/*
 * What Baton keeps for a limited time, and the setting that limits it. `baton prune` and the jobs of the daemon remove the
 * same things by the same rules.
 */

export const pruneKinds = {
  workspaces: 'workspace.retention_ms',
  branches: 'workspace.branch_retention_days',
  saved_work: 'workspace.salvage_retention_days',
  caches: 'workspace.cache_retention_days',
  runs: 'store.retention_days',
  transcripts: 'store.retention_days',
  artifacts: 'store.retention_days',
  tasks: 'store.retention_days',
  records: 'store.retention_days',
} as const;

export type PruneKind = keyof typeof pruneKinds;

/** How much of a kind is past its retention, or was removed. */
export interface PruneAmount {
  readonly count: number;
  /** Null when the size is unknown, or says nothing: a row of the store, or a reference. */
  readonly bytes: number | null;
}

export interface PruneRow extends PruneAmount {
  readonly kind: PruneKind;
  /** What went wrong with this kind; the others do not depend on it. */
  readonly problem: string | null;
}

export const nothingToPrune: PruneAmount = { count: 0, bytes: 0 };

/** A branch that Baton made for an issue and that no one moved since. */
export interface PublishedBranch {
  readonly issueId: string;
  readonly identifier: string;
  readonly runId: string;
  readonly branch: string;
  readonly base: string;
  /** The last commit that Baton published. */
  readonly commit: string;
  /** The end of the last run of the issue. */
  readonly idleSince: number;
  /** Where its runs worked. */
  readonly workspaces: readonly string[];
}
