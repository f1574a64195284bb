import type { RecoveryStep } from './context-recovery.ts';
import type { RetryKind } from './workflow.ts';

/** Ways back to an issue on which the agent goes on in its own conversation: nothing was wrong with that. */
const goesOn: ReadonlySet<RetryKind> = new Set(['interrupted', 'quota', 'answered', 'handed_back']);

export interface RunWithThread {
  readonly backend: string;
  readonly threadId: string | null;
  readonly retryKind: RetryKind | null;
}

/**
 * The conversation that a run goes on with; null begins a new one. One that was cut short, or waited for somebody, goes on
 * where it was, and so does one that is only made shorter. A failure begins anew: its thread may be what was wrong. A
 * thread belongs to the backend that began it. A run that was to go on and died before it had a session is passed over:
 * it has lost nothing of the conversation. `before` are the runs of the issue, the newest first.
 */
export function threadToResume(
  start: { readonly retryKind: RetryKind | null; readonly recovery: RecoveryStep | null; readonly backend: string },
  before: readonly RunWithThread[],
): string | null {
  const isWanted = start.recovery === 'compact' || (start.retryKind !== null && goesOn.has(start.retryKind));
  if (!isWanted) return null;
  const last = before.find(
    ({ threadId, retryKind }) => threadId !== null || retryKind === null || !goesOn.has(retryKind),
  );
  return last?.backend === start.backend ? last.threadId : null;
}
