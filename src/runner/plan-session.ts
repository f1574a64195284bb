import type { SessionRecovery, SessionRequest } from '../agent/agent.ts';
import type { RecoveryStep } from '../core/run/context-recovery.ts';
import type { ContextRecoverySettings } from '../core/settings.ts';
import type { RetryKind } from '../core/workflow.ts';

/**
 * The part of a session's request that depends on how the last run ended. A recovery step starts a new thread, or makes
 * the thread shorter, only after the failure that led to it. If a run of that step was interrupted, the next one
 * continues in its own thread, with the same model or budget.
 */
export function planSession(
  threadId: string | null,
  step: RecoveryStep | null,
  settings: ContextRecoverySettings,
  retryKind: RetryKind | null,
): Pick<SessionRequest, 'threadId' | 'recovery'> {
  const { reducedBudgetTokens, largerModel } = settings;
  const isFirst = retryKind === 'failure' || retryKind === null;
  const newThread = (recovery: SessionRecovery | null) => ({ threadId: isFirst ? null : threadId, recovery });
  switch (step) {
    case null:
      return { threadId, recovery: null };
    case 'compact':
      return { threadId, recovery: isFirst ? { compact: true } : null };
    case 'reduced_budget':
      return newThread(reducedBudgetTokens === null ? null : { budgetTokens: reducedBudgetTokens });
    case 'fresh_start':
      return newThread(null);
    case 'larger_model':
      return newThread(largerModel === null ? null : { model: largerModel });
  }
}
