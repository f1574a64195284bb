import type { SessionRecovery, SessionRequest } from '../agent/agent.ts';
import type { RecoveryStep } from '../core/context-recovery.ts';
import type { ContextRecoverySettings } from '../core/settings.ts';

/** The part of a session's request that depends on how the last run ended. */
export function planSession(
  threadId: string | null,
  step: RecoveryStep | null,
  settings: ContextRecoverySettings,
): Pick<SessionRequest, 'threadId' | 'recovery'> {
  const { reducedBudgetTokens, largerModel } = settings;
  const anew = (recovery: SessionRecovery | null) => ({ threadId: null, recovery });
  switch (step) {
    case null:
      return { threadId, recovery: null };
    case 'compact':
      return { threadId, recovery: { compact: true } };
    case 'reduced_budget':
      return anew(reducedBudgetTokens === null ? null : { budgetTokens: reducedBudgetTokens });
    case 'fresh_start':
      return anew(null);
    case 'larger_model':
      return anew(largerModel === null ? null : { model: largerModel });
  }
}
