import type { HeldClaim } from './claims.ts';
import type { HeldIssue } from './held.ts';
import type { Retry } from './retries.ts';
import type { RunRecord } from './runs.ts';

/** What of scheduling survives the process that wrote it, as it was at one moment. */
export interface Recovery {
  readonly claims: readonly HeldClaim[];
  readonly retries: readonly Retry[];
  readonly held: readonly HeldIssue[];
  readonly unfinishedRuns: readonly RunRecord[];
}
