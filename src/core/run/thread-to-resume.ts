import type { RetryKind } from '../workflow.ts';
import type { RecoveryStep } from './context-recovery.ts';

/** Ways back to an issue on which the agent goes on in its own conversation: nothing was wrong with that. */
const goesOn: ReadonlySet<RetryKind> = new Set(['interrupted', 'quota', 'answered', 'handed_back']);

export interface RunWithThread {
  readonly backend: string;
  readonly threadId: string | null;
  readonly retryKind: RetryKind | null;
  readonly recovery?: RecoveryStep | null;
}

/**
 * The conversation that a run goes on with; null begins a new one. One that was cut short, or waited for somebody, goes on
 * where it was, and so does one that is only made shorter. A failure starts a new one: its thread may be what was wrong. A
 * thread belongs to the backend that began it. A run that died before it had a session is passed over, whatever ended it:
 * nothing was said to the agent, so the next one goes on with what that one was to go on with. `before` are the runs of
 * the issue, the newest first.
 */
export function threadToResume(
  start: Pick<RunWithThread, 'backend' | 'retryKind' | 'recovery'>,
  before: readonly RunWithThread[],
): string | null {
  const { backend } = start;
  let wish = start;
  for (const run of before) {
    const isWanted = wantsThread(wish);
    if (run.threadId !== null) return isWanted && run.backend === backend ? run.threadId : null;
    if (!isWanted && wish.retryKind !== 'failure') return null;
    wish = run;
  }
  return null;
}

/**
 * The run whose start is still owed when a person lets a held issue go on: the newest that was to go on in a conversation,
 * or to do something differently, if neither it nor a run after it ever had a session. Its agent was told nothing, so the
 * next run is what that one was to be. Null: nothing is owed, and the issue begins as any other. `before` as above.
 */
export function startStillOwed<Run extends RunWithThread & { readonly turns: number }>(
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
  return recovery === 'compact' || (retryKind !== null && goesOn.has(retryKind));
}
