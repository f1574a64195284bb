import type { HeldClaim } from './tables/claims.ts';
import type { HeldIssue } from './tables/held.ts';
import type { Retry } from './tables/retries.ts';
import type { RunRecord } from './tables/runs.ts';

/** What of scheduling survives the process that wrote it, as it was at one moment. */
export interface Recovery {
  readonly claims: readonly HeldClaim[];
  readonly retries: readonly Retry[];
  readonly held: readonly HeldIssue[];
  readonly unfinishedRuns: readonly RunRecord[];
}
