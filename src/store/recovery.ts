import type { HeldClaim } from './tables/claims.ts';
import type { HeldIssue } from './tables/held.ts';
import type { Retry } from './tables/retries.ts';
import type { RunRecord } from './tables/runs.ts';

/** The scheduling state that survives a process, at one moment. */
export interface Recovery {
  readonly claims: readonly HeldClaim[];
  readonly retries: readonly Retry[];
  readonly held: readonly HeldIssue[];
  readonly unfinishedRuns: readonly RunRecord[];
}
