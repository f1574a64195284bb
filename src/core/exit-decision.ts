import { continuationDelayMs, failureDelayMs, quotaDelayMs } from './backoff.ts';
import type { BatonError } from './baton-error.ts';
import type { ErrorCode } from './error-catalogue.ts';
import { harmlessLine } from './harmless-line.ts';
import { retryCommand } from './retry-command.ts';
import type { RunOutcome } from './run.ts';
import type { AgentSettings } from './settings.ts';
import type { RetryKind } from './workflow.ts';

/** A run that has ended, and what is known of the runs of its issue before it. */
export interface RunExit {
  /** The issue's, for the command that a person is told. */
  readonly identifier: string;
  readonly outcome: RunOutcome;
  /** Failures in a row before this run. */
  readonly failuresBefore: number;
  /** Runs in a row before this one that ended well and changed nothing. */
  readonly staleBefore: number;
  /** Whether the run changed anything. Null is unknown, and counts as changed: nobody is held on a guess. */
  readonly changed: boolean | null;
  /** Waits for a quota in a row before this one. */
  readonly quotaWaitsBefore: number;
  readonly agent: AgentSettings;
  /** Wall time. */
  readonly now: number;
  /** 0 to 1, for the jitter. */
  readonly chance: number;
}

/** What the orchestrator does with an issue after one of its runs has ended. */
export type ExitDecision =
  | {
      readonly action: 'retry';
      readonly kind: RetryKind;
      readonly failures: number;
      readonly staleRuns: number;
      readonly delayMs: number;
    }
  | { readonly action: 'hold'; readonly code: ErrorCode; readonly reason: string }
  | { readonly action: 'release' };

/** Errors that no retry mends: a question, and an agent that could not be ended and may still be at work. */
const needsPerson: ReadonlySet<ErrorCode> = new Set(['agent_input_required', 'agent_survives']);

/** An error may quote what an agent wrote; a reason is for reading at a glance. */
const longestErrorChars = 500;

/**
 * The exits of seed 2, and where they end.
 *
 * | a run that | is followed by |
 * |---|---|
 * | needs a person | held with the code of its error, however it ended |
 * | ended well | a quick look whether the issue is still active; held when too many in a row changed nothing |
 * | found its account without quota | a look when the quota is back; nothing is counted |
 * | failed, timed out or stalled | a wait that grows with the failures in a row; held when there were too many |
 * | was interrupted by Baton itself | a look as soon as there may be one; nothing is counted |
 * | was stopped because its issue moved on | the claim is released |
 *
 * A failure says nothing about progress and leaves the stale runs as they were; a run that ended well ends the failures.
 */
export function decideAfterExit(exit: RunExit): ExitDecision {
  const { outcome, failuresBefore, staleBefore } = exit;
  if (outcome.end === 'succeeded') return afterSuccess(exit);
  if (needsPerson.has(outcome.error.code)) {
    return { action: 'hold', code: outcome.error.code, reason: outcome.error.message };
  }
  if (outcome.error.code === 'agent_quota_exhausted' && outcome.end !== 'canceled_by_reconciliation')
    return afterQuota(exit, outcome.error);
  switch (outcome.end) {
    case 'canceled_by_reconciliation':
      return { action: 'release' };
    case 'interrupted':
      return { action: 'retry', kind: 'interrupted', failures: failuresBefore, staleRuns: staleBefore, delayMs: 0 };
    case 'failed':
    case 'timed_out':
    case 'stalled':
      return afterFailure(exit, outcome.error);
  }
}

function afterSuccess({ identifier, staleBefore, changed, agent: { maxStaleRuns } }: RunExit): ExitDecision {
  const staleRuns = changed === false ? staleBefore + 1 : 0;
  if (maxStaleRuns > 0 && staleRuns >= maxStaleRuns) {
    const times = staleRuns === 1 ? 'The last run' : `The last ${staleRuns} runs`;
    const reason = `${times} ended well and changed nothing (agent.max_stale_runs). To go on: ${retryCommand(identifier)}`;
    return { action: 'hold', code: 'no_progress', reason };
  }
  return { action: 'retry', kind: 'continuation', failures: 0, staleRuns, delayMs: continuationDelayMs };
}

/** The account waits, not the issue: no failure, no attempt. */
function afterQuota(exit: RunExit, { details }: BatonError): ExitDecision {
  const { failuresBefore: failures, staleBefore: staleRuns, now, quotaWaitsBefore, chance } = exit;
  const untilResetMs = typeof details.resets_at === 'number' ? details.resets_at - now : null;
  const delayMs = quotaDelayMs(quotaWaitsBefore, untilResetMs, chance);
  return { action: 'retry', kind: 'quota', failures, staleRuns, delayMs };
}

function afterFailure(exit: RunExit, error: BatonError): ExitDecision {
  const { identifier, failuresBefore, staleBefore, agent, chance } = exit;
  const failures = failuresBefore + 1;
  if (agent.maxRetries > 0 && failures >= agent.maxRetries) {
    const times = failures === 1 ? 'The last run failed' : `The last ${failures} runs failed, the last one`;
    const why = harmlessLine(error.message).slice(0, longestErrorChars);
    const reason = `${times} with ${error.code}: ${why} (agent.max_retries). To go on: ${retryCommand(identifier)}`;
    return { action: 'hold', code: 'retries_exhausted', reason };
  }
  const delayMs = failureDelayMs(failures, agent.maxRetryBackoffMs, chance);
  return { action: 'retry', kind: 'failure', failures, staleRuns: staleBefore, delayMs };
}
