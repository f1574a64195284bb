import { sleep } from '../clock/clock.ts';
import { decideAfterExit } from '../core/exit-decision.ts';
import type { RunOutcome } from '../core/run.ts';
import type { RetryKind } from '../core/workflow.ts';
import type { RunFinish } from '../store/runs.ts';
import { complete } from './complete-issue.ts';
import type { OrchestratorContext } from './context.ts';
import { isFirstToSay } from './first-to-say.ts';
import { followGivenBack } from './follow-landings.ts';
import { holdIssue, releaseHold } from './hold-issue.ts';
import { noStreaks } from './issue-counters.ts';
import type { NextStep } from './ledger.ts';
import { ownTimeMs } from './person-time.ts';
import { scheduleLook } from './schedule-look.ts';
import type { IssueCounts, RunningEntry } from './scheduling-state.ts';

/** How long the end of a run that could not be written waits before it is tried again, at first and at most. */
const firstRetryMs = 500;
const longestRetryMs = 30_000;

/**
 * A run has ended and its processes are gone: decides what follows (seed 2, Transition Triggers), writes that down
 * together with the end, and only then frees the slot. While the store cannot take it the slot stays taken; only a
 * daemon that stops gives up, and then the next life finds a run without an end.
 */
export async function settleRun(context: OrchestratorContext, entry: RunningEntry, outcome: RunOutcome): Promise<void> {
  const { clock, chance, logger, stopping } = context;
  tell(context, entry, outcome);
  context.questions.endRun(entry.runId);
  const { account, runId, startedAt } = entry;
  const after = account === null ? null : await context.accounts.runEnded({ account, runId, startedAt }, outcome);
  const standsForLogin = isFirstToSay(context, runId, after);
  const error = outcome.end === 'succeeded' ? null : outcome.error;
  const end: RunFinish = {
    endedAt: clock.now(),
    outcome: outcome.end,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
  };
  const dice = chance.next();
  for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
    const isLast = stopping.aborted;
    const next = whatFollows(context, entry, outcome, { dice, endedAt: end.endedAt, standsForLogin });
    try {
      entry.settlingSince = context.state.today.readings;
      const isOurs = await write(context, entry, end, next);
      leave(context, entry, outcome, isOurs ? next : null);
      return;
    } catch (problem) {
      entry.settlingSince = null;
      logger.error('run_end_write_failed', { ...named(entry), error: problem });
    }
    if (isLast) break;
    await sleep(clock, waitMs, stopping).catch(() => {
      // The daemon stops: one last try, then it gives up.
    });
  }
  leave(context, entry, outcome, null);
}

interface Following {
  readonly step: NextStep;
  readonly streaks: Streaks;
  /** The hold was asked for while the run went on; its end alone would not have brought it. */
  readonly wasAsked?: boolean;
}

type Streaks = Pick<IssueCounts, 'failures' | 'staleRuns' | 'quotaWaits'>;

function whatFollows(
  { source, clock, accounts }: OrchestratorContext,
  entry: RunningEntry,
  outcome: RunOutcome,
  { dice: chance, endedAt, standsForLogin }: { dice: number; endedAt: number; standsForLogin: boolean },
): Following {
  const { issue, runId } = entry;
  const before: Streaks = entry.before ?? noStreaks;
  const { agent } = source.read().workflow.settings;
  const decision = decideAfterExit({
    identifier: issue.identifier,
    outcome,
    failuresBefore: before.failures,
    staleBefore: before.staleRuns,
    quotaWaitsBefore: before.quotaWaits,
    changed: hasChanged(entry),
    quotaReadyInMs: accounts.readyInMs(agent),
    standsForLogin,
    lastRecovery: entry.recovery,
    agent,
    now: clock.now(),
    chance,
  });
  // What a person lets go on begins to count anew, so a hold leaves the counts as they were.
  const hold = (code: string, reason: string): Following => ({
    step: { action: 'hold', hold: { issue, code, reason, since: endedAt, runId } },
    streaks: before,
    wasAsked: entry.holdAfterwards !== null && code === entry.holdAfterwards.code,
  });
  if (entry.holdAfterwards !== null) {
    const { code, reason } = entry.holdAfterwards;
    // An agent that may be alive is told as that, whatever else holds its issue.
    if (decision.action === 'hold' && decision.code === 'agent_survives') return hold(decision.code, decision.reason);
    return hold(code, reason);
  }
  if (decision.action === 'release') return { step: decision, streaks: noStreaks };
  if (decision.action === 'hold') return hold(decision.code, decision.reason);
  const { kind, failures, staleRuns, delayMs } = decision;
  // One that failed before its first turn has not taken its step.
  const recovery = decision.recovery ?? (kind === 'failure' && outcome.turns === 0 ? entry.recovery : null);
  const look = {
    issue: { id: issue.id, identifier: issue.identifier, url: issue.url },
    kind,
    attempt: attemptAfter(kind, failures, entry.attempt),
    failures,
    staleRuns,
    recovery,
    note: null,
    error: outcome.end === 'succeeded' ? null : outcome.error.message,
    dueAt: clock.now() + delayMs,
  };
  const quotaWaits = kind === 'quota' ? before.quotaWaits + 1 : 0;
  return { step: { action: 'retry', look }, streaks: { failures, staleRuns, quotaWaits } };
}

/** What went well or failed counts; what only waited goes on as the attempt that it was. */
function attemptAfter(kind: RetryKind, failures: number, before: number | null): number | null {
  if (kind === 'continuation') return 1;
  return kind === 'failure' ? failures : before;
}

/** A ticket that the run moved on has changed, whatever is in its workspace. */
function hasChanged({ changed, ownMove }: RunningEntry): boolean | null {
  return ownMove !== null ? true : changed;
}

function write(context: OrchestratorContext, entry: RunningEntry, end: RunFinish, next: Following): Promise<boolean> {
  const { ledger, journal, clock } = context;
  return journal.settle(entry.runId, (writeNotes) =>
    ledger.settleRun({
      issue: entry.issue,
      runId: entry.runId,
      runGeneration: journal.generationOf(entry.runId),
      end,
      wallMs: ownTimeMs(entry, clock),
      ...next.streaks,
      next: next.step,
      writeNotes,
    }),
  );
}

/** The end is written, or given up: the issue leaves `running`. `next` is null when the issue is not ours any more. */
function leave(context: OrchestratorContext, entry: RunningEntry, outcome: RunOutcome, next: Following | null): void {
  const { state, clock, pool, logger, journal } = context;
  const { issue, runId } = entry;
  state.running.delete(issue.id);
  pool?.free();
  journal.forget(runId);
  context.activity.note();
  context.reads.forget(issue.id);
  state.totals.runsByEnd.set(outcome.end, (state.totals.runsByEnd.get(outcome.end) ?? 0) + 1);
  const durationMs = clock.monotonic() - entry.startedAtMonotonic;
  state.totals.runMs += durationMs;
  context.onRunEnd?.({ outcome: outcome.end, retryKind: entry.retryKind, durationMs, usage: entry.usage });
  // A reading of the day since the end was written has it already.
  if (entry.settlingSince === state.today.readings) {
    state.today.tokens += entry.usage.totalTokens;
    state.today.microUsd += entry.usage.costMicroUsd;
  }
  if (next === null) {
    state.generations.delete(issue.id);
    if (!context.stopping.aborted) logger.warn('run_end_not_ours', named(entry));
  } else if (next.step.action === 'retry') {
    scheduleLook(context, next.step.look, { delayMs: Math.max(0, next.step.look.dueAt - clock.now()) });
  } else if (next.step.action === 'hold') {
    state.held.set(issue.id, next.step.hold);
    logger.warn('issue_held', { ...named(entry), ...reasonOf(next.step.hold) });
  } else if (entry.stopRequested === 'terminal_state') complete(context, entry);
  else followGivenBack(context, issue);
  // Somebody asked to hold the issue while its end was being written.
  if (next !== null && entry.holdAfterwards !== null && !isHeldFor(next.step, entry.holdAfterwards.code)) {
    const { code, reason } = entry.holdAfterwards;
    context.own('hold', holdIssue(context, { issue, code, reason, since: clock.now(), runId }));
  }
  // Or took that back.
  if (next?.wasAsked === true && entry.holdAfterwards === null) {
    context.own('release', releaseHold(context, issue.id, { byPerson: true }).then(context.requestTick));
  }
  context.notify();
  // A freed slot is for whoever waits for one, now and not at the next poll.
  context.fillSlots();
  if (next?.step.action === 'release' && entry.stopRequested !== 'terminal_state') context.requestTick();
}

/** An agent that may be alive holds its issue as that, whatever else was asked for. */
function isHeldFor(step: NextStep, code: string): boolean {
  return step.action === 'hold' && (step.hold.code === code || step.hold.code === 'agent_survives');
}

function tell({ logger }: OrchestratorContext, entry: RunningEntry, outcome: RunOutcome): void {
  if (outcome.end === 'succeeded') logger.info('run_succeeded', { ...named(entry), turns: outcome.turns });
  else if (outcome.end === 'canceled_by_reconciliation' || outcome.end === 'interrupted')
    logger.info('run_stopped', { ...named(entry), reason: entry.stopRequested });
  else logger.warn('run_failed', { ...named(entry), end: outcome.end, error: outcome.error });
}

function reasonOf({ code, reason }: { code: string; reason: string }): Record<string, unknown> {
  return { code, reason };
}

function named({ issue, runId, threadId }: RunningEntry): Record<string, unknown> {
  return { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, session_id: threadId };
}
