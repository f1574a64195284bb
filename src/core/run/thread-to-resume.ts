import type { RetryKind } from '../workflow.ts';
import type { RecoveryStep } from './context-recovery.ts';
import type { RunEnd } from './run.ts';

/** Kinds of retry in which the agent continues its own conversation, because nothing was wrong with it. */
const resumesThread: ReadonlySet<RetryKind> = new Set(['interrupted', 'quota', 'answered', 'handed_back']);

export interface RunWithThread {
  readonly backend: string;
  readonly threadId: string | null;
  readonly retryKind: RetryKind | null;
  readonly recovery?: RecoveryStep | null;
  /** Null while it is in progress. */
  readonly finish?: { readonly outcome: RunEnd } | null;
}

/** Ends after which the thread may be the cause. */
const failedEnds: readonly (RunEnd | undefined)[] = ['failed', 'timed_out', 'stalled'];

/**
 * The conversation that a run resumes; null begins a new one. A run resumes a conversation that was cut short, that
 * waited for somebody, or that is only compacted; and one that ended, if people have words about its work. After a failure a new one starts, because the thread may be the
 * cause. A thread belongs to the backend that began it. A run that died before it had a session is skipped, for any
 * cause: its agent heard nothing, so the next run resumes the conversation that this run should have resumed. `before`
 * are the runs of the issue, the newest first.
 */
export function threadToResume(
  start: Pick<RunWithThread, 'backend' | 'retryKind' | 'recovery'> & { readonly hasWords?: boolean },
  before: readonly RunWithThread[],
): string | null {
  const { backend } = start;
  const isAddressed = start.hasWords === true && (start.recovery ?? null) === null;
  let wanted = start;
  for (const run of before) {
    const isWanted = wantsThread(wanted) || (isAddressed && !failedEnds.includes(run.finish?.outcome));
    if (run.threadId !== null) return isWanted && run.backend === backend ? run.threadId : null;
    if (!isWanted && wanted.retryKind !== 'failure') return null;
    wanted = run;
  }
  return null;
}

/**
 * The run to make up for when a person lets a held issue continue: the newest that should have resumed a conversation,
 * or done something differently, if neither it nor a run after it ever had a session. Its agent heard nothing, so the
 * next run starts the way that run should have. Null: the issue begins as any other. `before` as above.
 */
export function missedStart<Run extends RunWithThread & { readonly turns: number }>(
  before: readonly Run[],
): Run | null {
  for (const run of before) {
    // Some backends have sessions and no threads.
    if (run.threadId !== null || run.turns > 0) return null;
    if (wantsThread(run) || (run.recovery ?? null) !== null) return run;
    if (run.retryKind !== 'failure') return null;
  }
  return null;
}

function wantsThread({ retryKind, recovery }: Pick<RunWithThread, 'retryKind' | 'recovery'>): boolean {
  return recovery === 'compact' || (retryKind !== null && resumesThread.has(retryKind));
}
