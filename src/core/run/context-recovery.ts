import type { ContextRecoverySettings } from '../settings.ts';

/**
 * The cascade of seed 4: a run that died of its context window is not repeated unchanged. The steps in their order:
 *
 * 1. `reduced_budget`: the same again, with an instruction to keep the conversation below a number of tokens;
 * 2. `compact`: the thread continues after it was made shorter;
 * 3. `fresh_start`: a new thread, which begins with a written summary of what was learned;
 * 4. `larger_model`: a new thread with that summary, on a larger model.
 *
 * Steps that are not configured are left out. Each failure of this kind in a row takes the next step; when there is none,
 * the last one again. An error about tokens begins at `compact`. The last attempt that `agent.max_retries` allows takes
 * the last configured step in any case. No attempt is added: the retry limit is the same.
 */
export type RecoveryStep = 'reduced_budget' | 'compact' | 'fresh_start' | 'larger_model';

export const recoverySteps: readonly RecoveryStep[] = ['reduced_budget', 'compact', 'fresh_start', 'larger_model'];

/** A run that died of its context window, and the recovery steps before it. */
export interface ContextDeath {
  /** `token`: an answer or a request had too many tokens; `context`: the window is full. */
  readonly kind: 'token' | 'context';
  /** The step that this run took, when the previous run died in the same way; null for the first of a row. */
  readonly last: RecoveryStep | null;
  /** Whether the next failure would be the last. */
  readonly isLastAttempt: boolean;
  readonly configured: ContextRecoverySettings;
}

/** What the next run does differently; null when nothing is configured: then it is a retry like any other. */
export function chooseRecovery({ kind, last, isLastAttempt, configured }: ContextDeath): RecoveryStep | null {
  const steps = recoverySteps.filter((step) => isConfigured(step, configured));
  const final = steps.at(-1) ?? null;
  if (isLastAttempt) return final;
  const place = (step: RecoveryStep): number => recoverySteps.indexOf(step);
  const earliest = Math.max(last === null ? 0 : place(last) + 1, kind === 'token' ? place('compact') : 0);
  return steps.find((step) => place(step) >= earliest) ?? final;
}

function isConfigured(step: RecoveryStep, settings: ContextRecoverySettings): boolean {
  switch (step) {
    case 'reduced_budget':
      return settings.reducedBudgetTokens !== null;
    case 'compact':
      return settings.compact;
    case 'fresh_start':
      return settings.freshStart;
    case 'larger_model':
      return settings.largerModel !== null;
  }
}
