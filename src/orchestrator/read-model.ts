import type { AgentEvent, AgentProcess, TokenUsage } from '../agent/agent.ts';
import type { AccountState } from '../core/account.ts';
import type { BatonError } from '../core/baton-error.ts';
import type { SkipReason } from '../core/eligibility.ts';
import type { Issue } from '../core/issue.ts';
import type { LimitFinding } from '../core/limits.ts';
import type { RunEnd, RunStage } from '../core/run.ts';
import type { RetryKind } from '../core/workflow.ts';
import type { OrchestratorContext } from './context.ts';
import { type PollingHealth, pollingHealth } from './health.ts';
import type { JobView } from './job.ts';
import type { OpenQuestion } from './open-questions.ts';
import type { RunUsage } from './run-usage.ts';
import type { CompletedEntry, HeldEntry, IssueName, Pause, SchedulingState } from './scheduling-state.ts';

/** Everything a watcher may know about the scheduler, at one instant. */
export interface ReadModel {
  readonly at: number;
  readonly startedAt: number;
  readonly polling: PollingHealth & {
    /** Monotonic time of the next poll (seed 1, Observability); null before the start. */
    readonly nextPollDueAt: number | null;
    readonly pollCheckInProgress: boolean;
    readonly ticks: number;
  };
  readonly jobs: readonly JobView[];
  /** What the last look at the queue found: issues that wait too long or fail again and again. */
  readonly findings: SchedulingState['findings'];
  readonly slots: { readonly used: number; readonly limit: number };
  readonly running: readonly RunningView[];
  readonly retrying: readonly RetryingView[];
  /** Retrying too, but for the quota of an account and not for their own sake. */
  readonly waitingQuota: readonly RetryingView[];
  readonly held: readonly HeldEntry[];
  /** What live agents ask, and wait for. */
  readonly questions: readonly OpenQuestion[];
  readonly accounts: readonly AccountView[];
  readonly paused: Pause | null;
  readonly skipped: readonly { readonly issue: Issue; readonly reason: SkipReason }[];
  /** Issues that reached a terminal state, the latest last; for people, and bounded. */
  readonly completed: readonly CompletedEntry[];
  readonly totals: TokenUsage & {
    readonly runs: number;
    readonly runsByEnd: Readonly<Partial<Record<RunEnd, number>>>;
  };
  /** What is wrong with the workflow file just now, and what the last tick found wrong. */
  readonly workflowProblem: BatonError | null;
  /** Why nothing new starts on this machine: too little disk or memory; null when there is enough. */
  readonly noRoom: string | null;
  readonly errors: readonly { readonly step: string; readonly error: BatonError }[];
}

/** An account of the backend in force, or one that something is known of. */
export interface AccountView extends AccountState {
  /** Why nothing starts on it now; null when it is ready. */
  readonly waitsFor: string | null;
}

export interface RunningView {
  readonly issue: Issue;
  readonly runId: string;
  readonly attempt: number | null;
  readonly stage: RunStage;
  readonly turn: number;
  readonly startedAt: number;
  readonly workspace: string | null;
  readonly threadId: string | null;
  readonly process: AgentProcess | null;
  readonly lastEvent: AgentEvent | null;
  readonly usage: RunUsage;
  readonly account: string | null;
  /** It waits for a person. */
  readonly isAsking: boolean;
  /** Limits that are near or reached. */
  readonly warnings: readonly LimitFinding[];
}

export interface RetryingView {
  readonly issue: IssueName;
  readonly kind: RetryKind;
  readonly attempt: number | null;
  readonly dueAt: number;
  /** Why it is looked at again. */
  readonly error: string | null;
  /** Why the look that was due could not be carried through. */
  readonly waitReason: string | null;
  readonly waitCode: SkipReason['code'] | null;
}

interface TickFacts {
  readonly startedAt: number;
  readonly nextPollDueAt: number | null;
  readonly pollCheckInProgress: boolean;
  readonly ticks: number;
  readonly errors: ReadModel['errors'];
  readonly jobs: readonly JobView[];
}

/** Copies the scheduling state into a read model. */
export function readModel(context: OrchestratorContext, facts: TickFacts): ReadModel {
  const { state, clock, source, room, questions, accounts } = context;
  const { workflow, problem } = source.read();
  const { runsByEnd, ...totals } = state.totals;
  const looks = [...state.retrying.values()].map(({ issue, kind, attempt, dueAt, error, wait }) => ({
    ...{ issue, kind, attempt, dueAt, error },
    waitReason: wait?.text ?? null,
    waitCode: wait?.code ?? null,
  }));
  return {
    at: clock.now(),
    startedAt: facts.startedAt,
    polling: {
      ...pollingHealth(context),
      nextPollDueAt: facts.nextPollDueAt,
      pollCheckInProgress: facts.pollCheckInProgress,
      ticks: facts.ticks,
    },
    jobs: facts.jobs,
    findings: state.findings,
    slots: { used: state.running.size, limit: workflow.settings.agent.maxConcurrentAgents },
    running: [...state.running.values()].map((entry) => ({
      issue: entry.issue,
      runId: entry.runId,
      attempt: entry.attempt,
      stage: entry.stage,
      turn: entry.turn,
      startedAt: entry.startedAt,
      workspace: entry.workspace,
      threadId: entry.threadId,
      process: entry.process,
      lastEvent: entry.lastEvent,
      usage: entry.usage,
      account: entry.account?.name ?? null,
      isAsking: questions.isAsking(entry.runId),
      warnings: entry.warnings,
    })),
    retrying: looks.filter((look) => !waitsForQuota(look)),
    waitingQuota: looks.filter(waitsForQuota),
    questions: questions.list(),
    accounts: accounts.views(workflow.settings.agent),
    held: [...state.held.values()],
    paused: state.paused,
    skipped: [...state.skipped.values()],
    completed: [...state.completed.values()],
    totals: { ...totals, runsByEnd: Object.fromEntries(runsByEnd) },
    workflowProblem: problem,
    noRoom: room.whyNone()?.text ?? null,
    errors: facts.errors,
  };
}

/** For the quota of an account and not for its own sake. */
function waitsForQuota({ kind, waitCode }: RetryingView): boolean {
  return kind === 'quota' || waitCode === 'waiting_quota';
}
