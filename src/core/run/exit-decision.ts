import type { BatonError } from '../baton-error.ts';
import { approveCommand, retryCommand, runLogCommand, survivesReason } from '../command/retry-command.ts';
import type { AnyErrorCode } from '../error-catalogue.ts';
import type { Transition } from '../pipeline/completion.ts';
import { readyPhase } from '../pipeline/phase.ts';
import type { AgentSettings } from '../settings.ts';
import { harmlessLine } from '../text/harmless-line.ts';
import type { RetryKind } from '../workflow.ts';
import { continuationDelayMs, failureDelayMs, quotaDelayMs } from './backoff.ts';
import { chooseRecovery, type RecoveryStep } from './context-recovery.ts';
import type { RunOutcome } from './run.ts';

/** A run that has ended, and the history of its issue before it. */
export interface RunExit {
  /** The issue's identifier, for the command in the message to a person. */
  readonly identifier: string;
  readonly outcome: RunOutcome;
  readonly failuresBefore: number;
  /** Runs in a row before this one that ended well and changed nothing. */
  readonly staleBefore: number;
  /** Runs in a row before this one that ended well without a work product. */
  readonly noSignalsBefore: number;
  readonly work: WorkProduct;
  /** For a judge: whether it gave a verdict that counts, and what follows where none comes; null for a worker. */
  readonly judge?: { readonly hasVerdict: boolean; readonly withoutVerdict: 'hold' | 'todo' } | null;
  /** For a phase agent: what follows from its completion claim, null where it made none; null for all others. */
  readonly phase?: { readonly name: string; readonly transition: Transition | null } | null;
  /** For a planner: what became of its plan, null where it made none; null for all others. */
  readonly plan?: { readonly made: 'all' | 'not_yet' | null } | null;
  /** For a worker: the issue was split, and all its parts are over. */
  readonly isOfParent?: boolean;
  /** Its run is not about an issue: a person decides what follows, also when it failed. */
  readonly isTask?: boolean;
  /** Waits for a quota in a row before this one. */
  readonly quotaWaitsBefore: number;
  /** When an account of the backend is ready; 0: one is now. Null: unknown. Read only after a run without quota. */
  readonly quotaReadyInMs: number | null;
  /** Without a login: this issue is held for it; the others wait for the account. */
  readonly isHeldForLogin: boolean;
  /** The environment is to blame: when the issue tries again. Null: it is not. */
  readonly environmentRetryInMs: number | null;
  /** What this run did differently because the previous one died of its context; null for an ordinary run. */
  readonly lastRecovery: RecoveryStep | null;
  readonly agent: AgentSettings;
  /** Wall time. */
  readonly now: number;
  /** 0 to 1, for the jitter. */
  readonly chance: number;
}

/** What a run left behind. */
export interface WorkProduct {
  /** It moved its own issue. */
  readonly moved: boolean;
  /** Whether it changed anything. Null is unknown, and counts as unchanged: an agent can make its workspace unreadable. */
  readonly changed: boolean | null;
  /** Whether it made commits; null where its workspace is not a git repository. */
  readonly committed: boolean | null;
  /** The branch in the repository, compared with what was last in review; read only with `agent.after_success: review`. */
  readonly branch: BranchState;
  /** Work that is in no commit of the branch: changed files, or commits elsewhere. */
  readonly hasLoose: boolean;
}

export type BranchState =
  | { readonly commits: 'new' | 'none' }
  /** The repository did not take them. */
  | { readonly commits: 'refused'; readonly reason: string };

/** What the orchestrator does with an issue after one of its runs has ended. */
export type ExitDecision =
  | {
      readonly action: 'retry';
      readonly kind: RetryKind;
      readonly failures: number;
      readonly staleRuns: number;
      readonly noSignals: number;
      readonly delayMs: number;
      /** What the next run does differently because this one died of its context. */
      readonly recovery: RecoveryStep | null;
    }
  | { readonly action: 'hold'; readonly code: AnyErrorCode; readonly reason: string }
  | { readonly action: 'release' };

/** A retry does not help with these errors. A person is needed only if the issue is still active. */
const needsPersonIfActive: ReadonlySet<AnyErrorCode> = new Set([
  'agent_auth_failed',
  'agent_thread_in_use',
  'run_stalemate',
  'workspace_without_branch',
]);

/** An error may quote an agent; a reason is for reading at a glance. */
const longestErrorChars = 500;

/** The command that logs an agent in comes after the agent's own words, and must not be cut off. */
const longestMessageChars = 1_000;

/**
 * The exits of seed 2, and their consequences.
 *
 * | a run that | is followed by |
 * |---|---|
 * | needs a person | held with the code of its error, however it ended |
 * | found no login | held with its code and the command to continue, if no other issue is; else as without quota |
 * | goes round in a circle | held with the code of its error and the command to continue |
 * | ended well | a quick check whether the issue is still active; held when too many in a row changed nothing |
 * | ended well again without a work product: no commit, no move, no file outside git | as above, after a wait that grows |
 * | ended well, with `agent.after_success: review`: | |
 * | … and left new commits on its branch | a retry of the kind `review`, at once: they become a pull request |
 * | … and its branch was refused by the repository | held |
 * | … and left only work that is not committed | held, after the runner has reminded the agent once |
 * | … and left nothing | counted; held when too many in a row changed nothing; the wait grows from the first one on |
 * | found its account without quota | a retry when an account is ready; nothing is counted |
 * | could not begin because of its environment (`environment.ts`) | a retry when it is tried again; nothing is counted |
 * | failed, timed out or stalled | a wait that grows with the failures in a row; held when there were too many |
 * | died of its context window | as a failure, but the next run does something differently |
 * | was interrupted by Baton itself | a retry as soon as possible; nothing is counted |
 * | was stopped because its issue moved on | the claim is released |
 * | … to review, and left new commits on its branch | a retry of the kind `review`, as after a run that ended well |
 *
 * | was a judge, and gave a verdict | the claim is released: the verdict decides |
 * | was a judge, and gave none | again, after a wait that grows; after the third time held, or back to its agent |
 * | was a phase agent, and completed its phase, however it ended | released: the issue is in its next phase, or waits for a judge |
 * | … with an artifact that falls short | a retry of the kind `revision`; held when it was sent back too often |
 * | was a phase agent, and completed nothing | again, after a wait that grows; after the third time held |
 *
 * | was a planner, and made a plan, however it ended | released: the issue waits for its parts, or goes to a worker |
 * | … that is not in the tracker yet | a retry, which finishes it |
 * | was a planner, and made none | again, after a wait that grows; after the third time held |
 * | was the worker of an issue whose parts are over, and left nothing | a retry of the kind `review`: nothing was left to do |
 * | was about a task | released: it has an answer, or has failed, and a person decides; only without quota, login or environment it is tried again |
 *
 * A failure says nothing about progress and leaves the counts of stale runs and of runs without a work product unchanged; a run that ended well resets the
 * failures. Where nothing is counted, the next run repeats this one, with the same recovery step.
 */
export function decideAfterExit(exit: RunExit): ExitDecision {
  return (exit.isTask ? afterTask(exit) : null) ?? afterIssue(exit);
}

/** Null: as after a run about an issue, because its agent may be alive, or the account or the environment is to blame. */
function afterTask({ outcome, environmentRetryInMs }: RunExit): ExitDecision | null {
  if (outcome.end === 'succeeded') return { action: 'release' };
  const isAsEver = asForIssues.has(outcome.error.code) || environmentRetryInMs !== null;
  return isAsEver ? null : { action: 'release' };
}

const asForIssues: ReadonlySet<AnyErrorCode> = new Set([
  'agent_survives',
  'agent_auth_failed',
  'agent_quota_exhausted',
]);

function afterIssue(exit: RunExit): ExitDecision {
  const { outcome } = exit;
  if (outcome.end === 'succeeded') return afterGoodEnd(exit);
  const { code, message } = outcome.error;
  if (code === 'agent_survives')
    return { action: 'hold', code, reason: survivesReason(sentence(message), exit.identifier) };
  // Its plan was stored when it said so.
  if (exit.plan?.made) return afterPlan(exit, exit.plan);
  if (code === 'agent_input_required')
    return { action: 'hold', code, reason: withRetryCommand(message, exit.identifier) };
  if (outcome.end === 'canceled_by_reconciliation')
    return exit.work.branch.commits === 'new' ? deliver : { action: 'release' };
  // Its artifact was taken when it said so, and is evidence whatever happened to the agent afterwards.
  if (exit.phase?.transition) return afterPhase(exit, exit.phase);
  if (code === 'agent_auth_failed' && !exit.isHeldForLogin) return afterQuota(exit, outcome.error);
  if (needsPersonIfActive.has(code))
    return { action: 'hold', code, reason: withRetryCommand(message, exit.identifier) };
  if (code === 'agent_quota_exhausted') return afterQuota(exit, outcome.error);
  if (exit.environmentRetryInMs !== null)
    return { ...unchangedCounts(exit), kind: 'interrupted', delayMs: exit.environmentRetryInMs };
  switch (outcome.end) {
    case 'interrupted':
      return { ...unchangedCounts(exit), kind: 'interrupted', delayMs: 0 };
    case 'failed':
    case 'timed_out':
    case 'stalled':
      return afterFailure(exit, outcome.error);
  }
}

function afterGoodEnd(exit: RunExit): ExitDecision {
  if (exit.plan) return afterPlan(exit, exit.plan);
  if (exit.phase?.transition) return afterPhase(exit, exit.phase);
  if (exit.judge) return afterJudge(exit, exit.judge);
  return exit.phase ? afterPhase(exit, exit.phase) : afterSuccess(exit);
}

/** A judge that says nothing three times will not say anything the fourth time. */
const mostWithoutVerdict = 3;

function afterJudge(exit: RunExit, judge: NonNullable<RunExit['judge']>): ExitDecision {
  if (judge.hasVerdict) return { action: 'release' };
  const { identifier, staleBefore, agent, chance } = exit;
  const staleRuns = staleBefore + 1;
  if (staleRuns < mostWithoutVerdict) {
    const delayMs = failureDelayMs(staleRuns, agent.maxRetryBackoffMs, chance);
    return { action: 'retry', kind: 'continuation', failures: 0, staleRuns, noSignals: 0, delayMs, recovery: null };
  }
  if (judge.withoutVerdict === 'todo') return { action: 'release' };
  const isOfArtifact = exit.phase != null && exit.phase.name !== readyPhase;
  const decide = isOfArtifact
    ? ` To accept the artifact as it is: ${approveCommand(identifier)}; to try again:`
    : ' To try again:';
  const reason = `The judge gave no verdict in ${staleRuns} runs.${decide} ${retryCommand(identifier)}`;
  return { action: 'hold', code: 'judge_without_verdict', reason };
}

/** A phase agent that completes nothing three times will not complete anything the fourth time. */
const mostIncomplete = 3;

function afterPhase(exit: RunExit, { name, transition }: NonNullable<RunExit['phase']>): ExitDecision {
  const { identifier, staleBefore, agent, chance } = exit;
  const retry = { action: 'retry', failures: 0, noSignals: 0, recovery: null } as const;
  switch (transition?.to) {
    case undefined: {
      const staleRuns = staleBefore + 1;
      if (staleRuns >= mostIncomplete) {
        const reason = `${staleRuns} runs ended without completing the phase "${name}". To see what the last one did: ${runLogCommand(identifier)}; to try again: ${retryCommand(identifier)}`;
        return { action: 'hold', code: 'phase_not_completed', reason };
      }
      const delayMs = failureDelayMs(staleRuns, agent.maxRetryBackoffMs, chance);
      return { ...retry, kind: 'continuation', staleRuns, delayMs };
    }
    case 'revise':
      return { ...retry, kind: 'revision', staleRuns: 0, delayMs: continuationDelayMs };
    case 'person': {
      const why = harmlessLine(transition.reasons.join(' ')).slice(0, longestErrorChars);
      const reason = `The artifact of the phase "${name}" was sent back too often (pipeline.max_revisions). The last reasons: ${why} To accept it as it is: ${approveCommand(identifier)}; to try again: ${retryCommand(identifier)}`;
      return { action: 'hold', code: 'revisions_exhausted', reason };
    }
    case 'advance':
    case 'judge':
    case 'nothing':
      return { action: 'release' };
  }
}

/** A planner that says nothing three times will not say anything the fourth time. */
const mostWithoutPlan = 3;

function afterPlan(exit: RunExit, { made }: NonNullable<RunExit['plan']>): ExitDecision {
  const { identifier, staleBefore, agent, chance } = exit;
  if (made === 'all') return { action: 'release' };
  const retry = { action: 'retry', kind: 'continuation', failures: 0, noSignals: 0, recovery: null } as const;
  if (made === 'not_yet') return { ...retry, staleRuns: 0, delayMs: continuationDelayMs };
  const staleRuns = staleBefore + 1;
  if (staleRuns < mostWithoutPlan)
    return { ...retry, staleRuns, delayMs: failureDelayMs(staleRuns, agent.maxRetryBackoffMs, chance) };
  const reason = `${staleRuns} runs of the planner ended without a plan. To see what the last one did: ${runLogCommand(identifier)}; to try again: ${retryCommand(identifier)}. Without the planner's label a worker takes it.`;
  return { action: 'hold', code: 'plan_missing', reason };
}

const deliver: ExitDecision = {
  action: 'retry',
  kind: 'review',
  failures: 0,
  staleRuns: 0,
  noSignals: 0,
  delayMs: 0,
  recovery: null,
};

function afterSuccess(exit: RunExit): ExitDecision {
  const { identifier, staleBefore, noSignalsBefore, work, agent, chance } = exit;
  const isReview = agent.afterSuccess === 'review';
  const byBranch = isReview ? afterBranch(exit) : null;
  if (byBranch !== null) return byBranch;
  const isNothingLeft = exit.isOfParent === true && !work.moved && !work.hasLoose && !work.committed && !work.changed;
  if (isNothingLeft) return deliver;
  // A run that moved its issue made a change, whatever is in its workspace.
  const hasChanged = work.moved || work.changed === true;
  const staleRuns = hasChanged ? 0 : staleBefore + 1;
  if (agent.maxStaleRuns > 0 && staleRuns >= agent.maxStaleRuns) {
    const times = staleRuns === 1 ? 'The last run' : `The last ${staleRuns} runs`;
    const seen = work.changed === null ? ', as far as Baton can examine the workspace' : '';
    const reason = `${times} succeeded but changed nothing${seen} (agent.max_stale_runs). To continue: ${retryCommand(identifier)}`;
    return { action: 'hold', code: 'no_progress', reason };
  }
  const hasProduct = work.moved || (work.committed ?? hasChanged);
  const noSignals = hasProduct ? 0 : noSignalsBefore + 1;
  // Symphony checks again after a second; a second run in a row that gave nothing is not worth that hurry.
  const delayMs =
    noSignals === 0 || (noSignals === 1 && !isReview)
      ? continuationDelayMs
      : failureDelayMs(noSignals, agent.maxRetryBackoffMs, chance);
  return { action: 'retry', kind: 'continuation', failures: 0, staleRuns, noSignals, delayMs, recovery: null };
}

/** What follows from the branch; null: it has nothing new, and nothing is in its way. */
function afterBranch({ identifier, work: { branch, moved, hasLoose } }: RunExit): ExitDecision | null {
  if (branch.commits === 'new') return deliver;
  // The agent decided itself what follows.
  if (moved) return null;
  const retry = `To continue: ${retryCommand(identifier)}`;
  if (branch.commits === 'refused') {
    const why = harmlessLine(branch.reason).slice(0, longestErrorChars);
    return { action: 'hold', code: 'change_not_published', reason: `The branch was not published: ${why}. ${retry}` };
  }
  if (!hasLoose) return null;
  const reason = `The last run left work that is not committed on its branch (agent.after_success: review). ${retry}`;
  return { action: 'hold', code: 'uncommitted_work', reason };
}

/** The account waits, not the issue: no failure, no attempt. */
function afterQuota(exit: RunExit, { details }: BatonError): ExitDecision {
  const { now, quotaWaitsBefore, quotaReadyInMs, chance } = exit;
  const untilResetMs = typeof details.resets_at === 'number' ? details.resets_at - now : null;
  // Wait a moment even when an account is ready: repeated immediate refusals must not keep the machine busy.
  const delayMs =
    quotaReadyInMs === null
      ? quotaDelayMs(quotaWaitsBefore, untilResetMs, chance)
      : Math.max(continuationDelayMs, quotaReadyInMs);
  return { ...unchangedCounts(exit), kind: 'quota', delayMs };
}

function unchangedCounts({ failuresBefore, staleBefore, noSignalsBefore, lastRecovery }: RunExit): {
  readonly action: 'retry';
  readonly failures: number;
  readonly staleRuns: number;
  readonly noSignals: number;
  readonly recovery: RecoveryStep | null;
} {
  return {
    action: 'retry',
    failures: failuresBefore,
    staleRuns: staleBefore,
    noSignals: noSignalsBefore,
    recovery: lastRecovery,
  };
}

function afterFailure(exit: RunExit, error: BatonError): ExitDecision {
  const { identifier, failuresBefore, staleBefore, noSignalsBefore: noSignals, agent, chance } = exit;
  const failures = failuresBefore + 1;
  if (agent.maxRetries > 0 && failures >= agent.maxRetries) {
    const times = failures === 1 ? 'The last run failed' : `The last ${failures} runs failed, the last one`;
    const why = harmlessLine(error.message).slice(0, longestErrorChars);
    const reason = `${times} with ${error.code}: ${why.replace(/\.$/, '')} (agent.max_retries). To continue: ${retryCommand(identifier)}`;
    return { action: 'hold', code: 'retries_exhausted', reason };
  }
  const delayMs = failureDelayMs(failures, agent.maxRetryBackoffMs, chance);
  const recovery = error.code === 'agent_context_exhausted' ? recoveryAfter(exit, error, failures) : null;
  return { action: 'retry', kind: 'failure', failures, staleRuns: staleBefore, noSignals, delayMs, recovery };
}

function recoveryAfter(
  { agent, lastRecovery }: RunExit,
  { details }: BatonError,
  failures: number,
): RecoveryStep | null {
  return chooseRecovery({
    kind: details.kind === 'token' ? 'token' : 'context',
    last: lastRecovery,
    isLastAttempt: agent.maxRetries > 0 && failures + 1 >= agent.maxRetries,
    configured: agent.contextRecovery,
  });
}

function withRetryCommand(message: string, identifier: string): string {
  return `${sentence(message)} To continue: ${retryCommand(identifier)}`;
}

function sentence(message: string): string {
  const why = harmlessLine(message).slice(0, longestMessageChars);
  return /[.!?…]$/.test(why) ? why : `${why}.`;
}
