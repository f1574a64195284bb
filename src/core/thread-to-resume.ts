import type { RecoveryStep } from './context-recovery.ts';
import type { RetryKind } from './workflow.ts';

/** Ways back to an issue on which the agent goes on in its own conversation: nothing was wrong with that. */
const goesOn: ReadonlySet<RetryKind> = new Set(['interrupted', 'quota', 'answered', 'handed_back']);

/**
 * The conversation that a run goes on with; null begins a new one. One that was cut short, or waited for somebody, goes on
 * where it was, and so does one that is only made shorter. A failure begins anew: its thread may be what was wrong. A
 * thread belongs to the backend that began it.
 */
export function threadToResume(
  start: { readonly retryKind: RetryKind | null; readonly recovery: RecoveryStep | null; readonly backend: string },
  last: { readonly backend: string; readonly threadId: string | null } | null,
): string | null {
  const isWanted = start.recovery === 'compact' || (start.retryKind !== null && goesOn.has(start.retryKind));
  return isWanted && last?.backend === start.backend ? last.threadId : null;
}
