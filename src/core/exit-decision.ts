import { continuationDelayMs, failureDelayMs } from './backoff.ts';
import type { ErrorCode } from './error-catalogue.ts';
import type { RunOutcome } from './run.ts';
import type { AgentSettings } from './settings.ts';
import type { RetryKind } from './workflow.ts';

/** What the orchestrator does with an issue after one of its runs has ended. */
export type ExitDecision =
  | { readonly action: 'retry'; readonly kind: RetryKind; readonly failures: number; readonly delayMs: number }
  | { readonly action: 'hold'; readonly reason: string }
  | { readonly action: 'release' };

/** Errors that no retry mends: a question, and an agent that could not be ended and may still be at work. */
const needsPerson: ReadonlySet<ErrorCode> = new Set(['agent_input_required', 'agent_survives']);

/**
 * The exits of seed 2: a run that ended well is followed by a quick look whether the issue is still active; one that
 * failed, timed out or stalled by a wait that grows with the failures in a row; one that was stopped because its issue
 * moved on releases the claim; one that needs a person is held.
 */
export function decideAfterExit(
  outcome: RunOutcome,
  failuresBefore: number,
  agent: AgentSettings,
  chance: number,
): ExitDecision {
  switch (outcome.end) {
    case 'succeeded':
      return { action: 'retry', kind: 'continuation', failures: 0, delayMs: continuationDelayMs };
    case 'canceled_by_reconciliation':
      return { action: 'release' };
    case 'failed':
    case 'timed_out':
    case 'stalled': {
      if (needsPerson.has(outcome.error.code)) return { action: 'hold', reason: outcome.error.message };
      const failures = failuresBefore + 1;
      const delayMs = failureDelayMs(failures, agent.maxRetryBackoffMs, chance);
      return { action: 'retry', kind: 'failure', failures, delayMs };
    }
  }
}
