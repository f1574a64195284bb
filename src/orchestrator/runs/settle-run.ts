import { isDeepStrictEqual } from 'node:util';
import { sleep } from '../../clock/clock.ts';
import type { AccountState } from '../../core/account/account.ts';
import { BatonError } from '../../core/baton-error.ts';
import { stateClass } from '../../core/dispatch/eligibility.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { type BranchState, decideAfterExit } from '../../core/run/exit-decision.ts';
import { decideAboutRun, endsHold } from '../../core/run/reconcile-decision.ts';
import type { RunOutcome } from '../../core/run/run.ts';
import type { RunEvidence } from '../../core/run/run-evidence.ts';
import { isTaskRole } from '../../core/task/task.ts';
import type { RetryKind } from '../../core/workflow.ts';
import type { RunFinish } from '../../store/tables/runs.ts';
import type { Running } from '../claims/claim.ts';
import type { NextStep } from '../claims/claim-writes.ts';
import type { Claims } from '../claims/claims.ts';
import { noStreaks, type Streaks } from '../claims/issue-counters.ts';
import { agentReadyInMs, settingsOfRun } from '../dispatch/agent-of.ts';
import type { EnvironmentWatch } from '../dispatch/environment.ts';
import type { BaseParts, EndedRun } from '../parts.ts';
import { completionOf, readPhase, writePhaseEnd } from '../pipeline/end-of-run.ts';
import type { Candidates } from '../poll/candidates.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import { hasVerdict, mayGoBackUnjudged, writeJudgement } from '../review/judges.ts';
import { writeTaskEnd } from '../tasks/task-runs.ts';
import type { Accounts } from './accounts.ts';
import type { Journal } from './journal.ts';
import type { OpenQuestions } from './open-questions.ts';
import { ownTimeMs } from './run-state.ts';
import type { RunTotals } from './run-totals.ts';
import type { Spending } from './spending.ts';

export interface SettleParts
  extends Pick<
    BaseParts,
    'chance' | 'clock' | 'logger' | 'project' | 'requestTick' | 'source' | 'stopping' | 'store' | 'trackerFor'
  > {
  readonly reads: TrackerReads;
  readonly candidates: Candidates;
  readonly claims: Claims;
  readonly journal: Journal;
  readonly accounts: Accounts;
  readonly environment: EnvironmentWatch;
  readonly questions: OpenQuestions;
  readonly spending: Spending;
  readonly totals: RunTotals;
  readonly onRunEnd?: (run: EndedRun) => void;
  /** Called when the claim of this issue was released. */
  readonly onReleased: (issue: Issue) => void;
}

/** First and longest delay before the end of a run that could not be written is written again. */
const firstRetryMs = 500;
const longestRetryMs = 30_000;

/** How long the slot of a run that has ended waits for the tracker. */
const longestReadMs = 10_000;

/**
 * A run has ended and its processes are gone: reads its issue again (seed 4, Layer 2), decides the next step (seed 2,
 * Transition Triggers), writes it together with the end, and only then frees the slot. An issue that an agent should not
 * work on any more is released at once, whatever the outcome. While the store cannot take the end, the slot stays taken.
 * Only a stopping daemon gives up; then the next one finds a run without an end.
 */
export async function settleRun(parts: SettleParts, running: Running, outcome: RunOutcome): Promise<void> {
  const { claims, accounts, environment, questions, clock, chance, logger, stopping, reads } = parts;
  logEnd(parts, running, outcome);
  // What was read while it ran does not count any more: it may have moved its issue since. But what it read itself after
  // its last turn is what its end is about.
  const { lastSeen, issue } = running;
  if (lastSeen === undefined || reads.lastRead(issue.id) !== lastSeen) reads.forget(issue.id);
  questions.endRun(running.runId);
  const { account, runId, startedAt } = running;
  // Read before any write: a slow store does not make the run longer, and a wait for quota begins at the same moment.
  const endedAt = clock.now();
  const after = account === null ? null : await accounts.runEnded({ account, runId, startedAt }, outcome);
  await readPhase(parts, running);
  const error = outcome.end === 'succeeded' ? null : outcome.error;
  const end: RunFinish = {
    endedAt,
    outcome: outcome.end,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
  };
  const decided = {
    outcome,
    end,
    dice: chance.next(),
    environment: outcome.end === 'failed' ? environment.failedRun(running, outcome) : null,
    isHeldForLogin: isHeldForLogin(parts, runId, after),
    branch: await readBranch(parts, running, outcome),
    // Without an answer of the store a person decides.
    mayGoBackUnjudged: await mayGoBackUnjudged(parts, running).catch(() => false),
  };
  const exit: Exit = { ...decided, seen: await readIssue(parts, running, decided) };
  for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
    const isLast = stopping.aborted;
    try {
      const next = await writeEnd(parts, running, exit);
      return ended(parts, running, exit, next);
    } catch (problem) {
      logger.error('run_end_write_failed', { ...named(running), error: problem });
    }
    if (isLast) break;
    await sleep(clock, waitMs, stopping).catch(() => {
      // The daemon stops: one last try, then it gives up.
    });
  }
  claims.abandon(running);
  ended(parts, running, exit, null);
}

interface Exit {
  readonly outcome: RunOutcome;
  readonly end: RunFinish;
  readonly dice: number;
  readonly isHeldForLogin: boolean;
  /** When it may try again, where the environment is to blame for its end; else null. */
  readonly environment: { readonly retryInMs: number } | null;
  readonly branch: BranchState;
  /** Of a judge that gave no verdict. */
  readonly mayGoBackUnjudged: boolean;
  /** The issue as read after the exit; null: the tracker does not have it. Absent: not read, the known record counts. */
  readonly seen?: Issue | null | undefined;
}

/**
 * The issue as it is after the exit. The runner may have seen that it is not to be worked on any more; else it is read
 * if nothing else would read it: a hold waits for a person, while a retry reads its issue before it starts, so that a
 * second request would buy nothing. A tracker on this machine is always asked.
 */
async function readIssue(parts: SettleParts, running: Running, exit: Exit): Promise<Issue | null | undefined> {
  const { source, trackerFor, reads, clock, stopping, logger } = parts;
  const { step } = nextStepOf(parts, running, exit);
  const isSurvivor = step.action === 'hold' && step.hold.code === 'agent_survives';
  if (step.action === 'release' || isSurvivor || stopping.aborted) return undefined;
  if (running.lastSeen !== undefined) return running.lastSeen;
  const isLocal = trackerFor(source.read().workflow.settings).isLocal === true;
  if (step.action === 'retry' && !isLocal) return undefined;
  const { id } = running.issue;
  const answered = new AbortController();
  try {
    const read = reads.byIds([id], { job: 'run_end', cause: 'retry' });
    const late = sleep(clock, longestReadMs, answered.signal).then(() => {
      throw new BatonError('tracker_request', `The tracker has not answered for ${longestReadMs / 1_000} seconds.`);
    });
    return (await Promise.race([read, late])).get(id);
  } catch (error) {
    if (!stopping.aborted) logger.warn('issue_reread_failed', { ...named(running), error });
    return undefined;
  } finally {
    answered.abort();
  }
}

/** The branch of the issue, compared with what was in review. While the store does not answer, git's word counts. */
async function readBranch(
  { source, store, project, logger }: SettleParts,
  running: Running,
  { end }: RunOutcome,
): Promise<BranchState> {
  const { publication, git } = running.evidence;
  const { agent, tracker } = source.read().workflow.settings;
  // Of a run that was stopped because its issue was moved to review, the commits go there too.
  const isMoved = running.stopRequested === 'inactive_state' && isInOneOf(tracker.reviewStates)(running.issue);
  if (agent.afterSuccess !== 'review' || (end !== 'succeeded' && !isMoved) || publication === undefined)
    return { commits: 'none' };
  const { outcome, commit, reason } = publication;
  if (outcome === 'refused') return { commits: 'refused', reason: reason ?? '' };
  const hasCommits = outcome === 'published' || (git?.ahead ?? 0) > 0;
  if (!hasCommits || commit === null) return { commits: 'none' };
  try {
    const [latest] = await store.pullRequests.latestOfIssues(project, [running.issue.id]);
    // A commit of an earlier round is not new either: people may have moved the branch since.
    const rounds = latest === undefined ? [] : await store.pullRequests.rounds(latest);
    return { commits: rounds.some(({ headCommit }) => headCommit === commit) ? 'none' : 'new' };
  } catch (error) {
    logger.warn('pull_request_read_failed', { ...named(running), error });
    return { commits: outcome === 'published' ? 'new' : 'none' };
  }
}

function hasLoose({ git, publication }: RunEvidence): boolean {
  const files = git === null ? 0 : git.changed + git.untracked + git.conflicts;
  return files > 0 || (publication?.elsewhere ?? null) !== null;
}

/** Returns the next step; null when the claim is not ours any more. */
async function writeEnd(parts: SettleParts, running: Running, exit: Exit): Promise<Following | null> {
  const { claims, journal, spending, clock } = parts;
  const { runId } = running;
  const notes = await journal.takeNotes(runId);
  spending.settling(running, true);
  try {
    const next = await claims.settle(running, {
      runGeneration: journal.generationOf(runId),
      end: exit.end,
      wallMs: ownTimeMs(running, clock),
      decide: () => nextStepOf(parts, running, exit),
      writeNotes: async (tables) => {
        await notes.write(tables);
        if (running.role === 'judge') await writeJudgement(parts, tables, running, judgement(parts, running, exit));
        await writePhaseEnd(parts, tables, running, exit.outcome);
        if (nextStepOf(parts, running, exit).step.action === 'release')
          await writeTaskEnd(parts, tables, running, exit.outcome);
      },
    });
    notes.written();
    return next;
  } catch (problem) {
    spending.settling(running, false);
    notes.failed(problem);
    throw problem;
  }
}

/** A judge that gave no verdict too often, where its change then goes back to its agent. */
function judgement(parts: SettleParts, running: Running, exit: Exit): { outcome: RunOutcome; isGivenUp: boolean } {
  const { outcome, seen = running.issue } = exit;
  const { action } = stepByOutcome(parts, running, exit).step;
  const isStill = decideAboutRun(seen, parts.source.read().workflow.settings.tracker, 'judge').action === 'keep';
  const isSilent = outcome.end === 'succeeded' && !hasVerdict(running, outcome);
  return { outcome, isGivenUp: action === 'release' && isSilent && isStill };
}

interface Following {
  readonly step: NextStep;
  readonly streaks: Streaks;
}

function nextStepOf(parts: SettleParts, running: Running, exit: Exit): Following {
  const { step, streaks } = stepByOutcome(parts, running, exit);
  const { seen } = exit;
  if (seen === undefined || step.action === 'release') return { step, streaks };
  const { tracker } = parts.source.read().workflow.settings;
  // An agent that moved its issue to review itself still has a change to propose.
  const isDelivery = step.action === 'retry' && step.retry.kind === 'review';
  if (isDelivery && seen !== null && isInOneOf(tracker.reviewStates)(seen)) return { step, streaks };
  // A plan that is not written to its end may have moved the issue already; the retry writes the rest.
  const isPlanned = running.plan?.made === 'not_yet' && seen !== null;
  if (isPlanned && stateClass(seen.state, tracker) !== 'terminal') return { step, streaks };
  const about = decideAboutRun(seen, tracker, running.role);
  const isOver = about.action === 'stop' && (step.action !== 'hold' || endsHold(step.hold.code, about.reason));
  return isOver ? { step: { action: 'release' }, streaks: noStreaks } : { step, streaks };
}

function stepByOutcome(
  parts: SettleParts,
  running: Running,
  { outcome, end, dice, branch, environment, isHeldForLogin: isForLogin, mayGoBackUnjudged: mayGoBack }: Exit,
): Following {
  const { issue, runId, holdAfterwards } = running;
  const { source, clock, accounts } = parts;
  const before: Streaks = running.before ?? noStreaks;
  const { settings } = source.read().workflow;
  const { agent } = settingsOfRun(settings, running.agent);
  const ofRole = running.role === 'worker' ? null : running.agent;
  const wish = { issue, chosen: running.chosenAgent, ofRole, failures: 0 };
  const decision = decideAfterExit({
    identifier: issue.identifier,
    outcome,
    failuresBefore: before.failures,
    staleBefore: before.staleRuns,
    quotaWaitsBefore: before.quotaWaits,
    noSignalsBefore: before.noSignals,
    work: {
      moved: running.ownMove !== null,
      changed: running.changed,
      committed: running.committed,
      branch,
      hasLoose: hasLoose(running.evidence),
    },
    isTask: isTaskRole(running.role),
    phase: running.phase === null ? null : { name: running.phase, transition: completionOf(parts, running, outcome) },
    plan: planOf(running),
    isOfParent: running.plannedAs === 'parent',
    judge:
      running.role === 'judge' || running.role === 'phase_judge'
        ? {
            hasVerdict: hasVerdict(running, outcome),
            // The agent of a phase would have nothing to change.
            withoutVerdict: mayGoBack ? 'todo' : 'hold',
          }
        : null,
    quotaReadyInMs: agentReadyInMs(accounts, settings, wish),
    isHeldForLogin: isForLogin,
    environmentRetryInMs: environment?.retryInMs ?? null,
    lastRecovery: running.recovery,
    agent,
    now: clock.now(),
    chance: dice,
  });
  // A person who releases the issue resets its counts, so a hold leaves them as they were.
  const hold = (code: string, reason: string): Following => ({
    step: { action: 'hold', hold: { issue, role: running.role, code, reason, since: end.endedAt, runId } },
    streaks: before,
  });
  // A hold for an agent that may be alive comes before every other hold.
  if (decision.action === 'hold' && (holdAfterwards === null || decision.code === 'agent_survives'))
    return hold(decision.code, decision.reason);
  if (holdAfterwards !== null) return hold(holdAfterwards.code, holdAfterwards.reason);
  if (decision.action === 'release') return { step: decision, streaks: noStreaks };
  if (decision.action === 'hold') return hold(decision.code, decision.reason);
  const { kind, failures, staleRuns, noSignals, delayMs } = decision;
  // A run that failed before its first turn has not tried its recovery step.
  const recovery = decision.recovery ?? (kind === 'failure' && outcome.turns === 0 ? running.recovery : null);
  const retry = {
    issue: { id: issue.id, identifier: issue.identifier, url: issue.url },
    role: running.role,
    kind,
    attempt: attemptAfter(kind, failures, running.attempt),
    failures,
    staleRuns,
    recovery,
    agent: running.chosenAgent,
    error: outcome.end === 'succeeded' ? null : outcome.error.message,
    dueAt: clock.now() + delayMs,
  };
  const quotaWaits = kind === 'quota' ? before.quotaWaits + 1 : 0;
  return { step: { action: 'retry', retry }, streaks: { failures, staleRuns, noSignals, quotaWaits } };
}

function planOf({ role, plan }: Running): { readonly made: 'all' | 'not_yet' | null } | null {
  return role === 'planner' ? { made: plan?.made ?? null } : null;
}

/** A success or a failure changes the attempt; a run that only waited keeps its attempt. */
function attemptAfter(kind: RetryKind, failures: number, before: number | null): number | null {
  if (kind === 'continuation' || kind === 'review') return 1;
  return kind === 'failure' ? failures : before;
}

/**
 * Whether the issue of a run without a login is the one that is held for it. One issue is held, the others wait for the
 * account, so that a person who has logged in releases one issue, not a hundred. It is the issue of the run that the
 * account was parked for, unless another issue is already held for the same reason.
 */
function isHeldForLogin({ claims }: SettleParts, runId: string, account: AccountState | null): boolean {
  if (account === null) return true;
  if (account.parked?.by !== runId) return false;
  return account.parks === 1 || ![...claims.held.values()].some(({ code }) => code === 'agent_auth_failed');
}

/** The end is written or given up. `next` is null when the issue is not ours any more. */
function ended(parts: SettleParts, running: Running, { outcome, seen }: Exit, next: Following | null): void {
  const { totals, clock, logger, journal, stopping, candidates } = parts;
  journal.forget(running.runId);
  totals.runsByEnd.set(outcome.end, (totals.runsByEnd.get(outcome.end) ?? 0) + 1);
  const durationMs = clock.monotonic() - running.startedAtMonotonic;
  totals.runMs += durationMs;
  parts.onRunEnd?.({ outcome: outcome.end, retryKind: running.retryKind, durationMs, usage: running.usage });
  if (next === null && !stopping.aborted) logger.warn('run_end_not_ours', named(running));
  if (next?.step.action === 'hold') {
    const { code, reason } = next.step.hold;
    logger.warn('issue_held', { ...named(running), code, reason });
  }
  if (next?.step.action !== 'release') return;
  const issue = seen === undefined ? running.issue : seen;
  candidates.update((id) => (id === running.issue.id ? seen : undefined), isDeepStrictEqual);
  if (issue === null) return;
  candidates.countReview(issue.id, issue.state);
  parts.onReleased(issue);
  // A read at the exit says what a poll would.
  if (seen === undefined && running.stopRequested !== 'terminal_state') parts.requestTick();
}

function logEnd({ logger }: SettleParts, running: Running, outcome: RunOutcome): void {
  const { role, phase, completion } = running;
  // A phase agent may end well and still leave no artifact.
  const completed = role === 'phase' ? { phase, completed: completion !== null } : {};
  if (outcome.end === 'succeeded')
    logger.info('run_succeeded', { ...named(running), turns: outcome.turns, ...completed });
  else if (outcome.end === 'canceled_by_reconciliation' || outcome.end === 'interrupted')
    logger.info('run_stopped', { ...named(running), reason: running.stopRequested });
  else logger.warn('run_failed', { ...named(running), end: outcome.end, error: outcome.error });
}

function named({ issue, runId, threadId }: Running): Record<string, unknown> {
  return { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, session_id: threadId };
}
