import type { TokenUsage } from '../../agent/agent.ts';
import type { BatonError } from '../../core/baton-error.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { QueueFindings } from '../../core/dispatch/queue-health.ts';
import { type SlotView, slotView } from '../../core/dispatch/slots.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { phaseNames } from '../../core/pipeline/phase.ts';
import type { PhaseStanding } from '../../core/pipeline/phase-standing.ts';
import type { OpenPull } from '../../core/pull/open-pull.ts';
import { agentNames } from '../../core/run/choose-agent.ts';
import { type DaySpent, type LimitFinding, limitsOfDay } from '../../core/run/limits.ts';
import { type RoleBudgetView, roleBudgets } from '../../core/run/role-budget.ts';
import type { RunEnd } from '../../core/run/run.ts';
import type { Settings } from '../../core/settings.ts';
import type { Task } from '../../core/task/task.ts';
import { type TaskAgents, taskAgents } from '../../core/task/task-agents.ts';
import type { WaitingChanges } from '../../core/workflow.ts';
import type { Hold, HoldReason, Retry } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { Pause, PauseState } from '../commands/pause.ts';
import { accountsIn } from '../dispatch/agent-of.ts';
import type { EnvironmentWatch } from '../dispatch/environment.ts';
import type { HeadroomWatch } from '../dispatch/headroom.ts';
import type { SkippedIssue, SkippedIssues } from '../dispatch/skipped.ts';
import type { JobView } from '../jobs/job.ts';
import type { QueueHealth } from '../jobs/queue-health.ts';
import type { Phases } from '../pipeline/phases.ts';
import type { Candidates } from '../poll/candidates.ts';
import type { ChangeMarks } from '../poll/change-marks.ts';
import type { CompletedIssue, FinishedIssues } from '../poll/finished-issues.ts';
import type { Accounts, AccountView } from '../runs/accounts.ts';
import type { OpenQuestion, OpenQuestions } from '../runs/open-questions.ts';
import type { RunState } from '../runs/run-state.ts';
import type { RunTotals } from '../runs/run-totals.ts';
import type { Spending } from '../runs/spending.ts';
import type { OpenProposals } from '../tasks/open-proposals.ts';
import type { TickTotals } from '../tick-steps.ts';
import { type PollingHealth, type PollingHealthParts, pollingHealth } from './health.ts';

export interface ReadModelParts extends PollingHealthParts {
  readonly pullWatch: { readonly open: ReadonlyMap<string, OpenPull> };
  readonly claims: Claims;
  readonly candidates: Candidates;
  readonly finishedIssues: FinishedIssues;
  readonly marks: ChangeMarks;
  readonly skipped: SkippedIssues;
  readonly pause: Pause;
  readonly spending: Spending;
  readonly totals: RunTotals;
  readonly headroom: HeadroomWatch;
  readonly environment: EnvironmentWatch;
  readonly questions: OpenQuestions;
  readonly accounts: Accounts;
  readonly queueHealth: QueueHealth;
  readonly phases: Phases;
  readonly proposals: OpenProposals;
}

/** Everything that a watcher may know about the scheduler, at one moment. */
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
  /** The time that the steps of ticks took since the start. */
  readonly stepTimes: TickTotals;
  /** The findings of the last check of the queue: issues that wait too long or fail again and again. */
  readonly findings: QueueFindings;
  readonly slots: SlotView;
  readonly running: readonly RunningView[];
  readonly retrying: readonly RetryingView[];
  /** Also retrying, but they wait for the quota of an account, not because of the issue. */
  readonly waitingQuota: readonly RetryingView[];
  readonly held: readonly Hold[];
  readonly questions: readonly OpenQuestion[];
  readonly accounts: readonly AccountView[];
  /** The agents that a person can choose among; empty where there is only one. */
  readonly agents: readonly string[];
  /** The agent of each kind of task; null where there is only one. */
  readonly taskAgents: TaskAgents | null;
  readonly paused: PauseState | null;
  readonly skipped: readonly SkippedIssue[];
  /** Issues that reached a terminal state, the latest last; for people, and bounded. */
  readonly completed: readonly CompletedIssue[];
  /** The issues in active states, as last seen; `skipped` has the reason of those that wait. */
  readonly candidates: readonly Issue[];
  readonly isPolled: boolean;
  /** Issues that wait for a person's review, as far as the last poll read them. */
  readonly reviews: readonly Issue[];
  /** By issue, the files of its published change that control agents or CI; null: unreadable. */
  readonly governing: ReadonlyMap<string, readonly string[] | null>;
  /** The open pull requests, by issue. */
  readonly pulls: ReadonlyMap<string, OpenPull>;
  /** The tasks whose proposals wait for a person. */
  readonly proposals: readonly Task[];
  /** The phases of the pipeline; empty where there is none. */
  readonly phaseNames: readonly string[];
  /** Where issues stand in the pipeline, by issue. */
  readonly phases: ReadonlyMap<string, PhaseStanding>;
  /** What the project has used on this UTC day, and may use; 0 means no limit. */
  readonly today: DaySpent & {
    readonly tokenLimit: number;
    readonly usdLimit: number;
    /**
     * The limits of the day that stop all work, until the next day or until a person allows more; absent when none
     * does.
     */
    readonly reached?: readonly ReachedLimit[];
    /** The roles that have a budget of their own. */
    readonly roles: readonly RoleBudgetView[];
  };
  readonly totals: TokenUsage & {
    readonly runs: number;
    readonly runMs: number;
    readonly runsByEnd: Readonly<Partial<Record<RunEnd, number>>>;
  };
  /** The current problem of the workflow file; `errors` has what else the last tick found wrong. */
  readonly workflowProblem: BatonError | null;
  /** Changes of the workflow file that wait for a person. */
  readonly workflowWaiting: WaitingChanges | null;
  /** Why nothing new starts on this machine: too little disk or memory; null when there is enough. */
  readonly noHeadroom: string | null;
  /** Why no run can begin, with the code of the error. */
  readonly environment: EnvironmentWatch['problem'];
  readonly errors: readonly { readonly step: string; readonly error: BatonError }[];
}

export interface ReachedLimit extends LimitFinding {
  /** Where its allowance begins: the usage of the day when a person last allowed more; 0 when no person did. */
  readonly allowedAfter: number;
}

type ShownOfRun =
  | 'attempt'
  | 'lastEvent'
  | 'process'
  | 'role'
  | 'runId'
  | 'stage'
  | 'startedAt'
  | 'threadId'
  | 'turn'
  | 'usage'
  | 'warnings'
  | 'workspace';

export interface RunningView extends Readonly<Pick<RunState, ShownOfRun>> {
  readonly issue: Issue;
  /** The name of its agent in the workflow file. */
  readonly agent: string;
  readonly account: string | null;
  readonly isAsking: boolean;
  /** False: this agent takes no message until its run ends. Absent: it may. */
  readonly canHear?: boolean;
  /** The issue is held when this run has ended. */
  readonly holdAfterwards?: HoldReason | null;
}

export interface RetryingView extends Pick<Retry, 'attempt' | 'dueAt' | 'error' | 'issue' | 'kind'> {
  /** Why a retry that was due could not start. */
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
  readonly stepTimes: TickTotals;
}

/** An unusable file fails the step that needs it with the same problem. */
function isSame(error: BatonError, problem: BatonError | null): boolean {
  return error.code === problem?.code && error.message === problem.message;
}

export function readModel(parts: ReadModelParts, facts: TickFacts): ReadModel {
  const { claims, candidates, clock, source, headroom, environment, questions, accounts } = parts;
  const { workflow, problem, waiting = null } = source.read();
  const { settings } = workflow;
  const { runsByEnd, ...totals } = parts.totals;
  const retries = [...claims.retrying.values()].map(({ issue, kind, attempt, dueAt, error, wait }) => ({
    issue,
    kind,
    attempt,
    dueAt,
    error,
    waitReason: wait?.text ?? null,
    waitCode: wait?.code ?? null,
  }));
  return {
    at: clock.now(),
    startedAt: facts.startedAt,
    polling: {
      ...pollingHealth(parts),
      nextPollDueAt: facts.nextPollDueAt,
      pollCheckInProgress: facts.pollCheckInProgress,
      ticks: facts.ticks,
    },
    jobs: facts.jobs,
    stepTimes: facts.stepTimes,
    findings: parts.queueHealth.findings,
    slots: slotView([...claims.running.values()], settings),
    running: [...claims.running.values()].map((entry) => ({
      issue: entry.issue,
      runId: entry.runId,
      role: entry.role,
      attempt: entry.attempt,
      stage: entry.stage,
      turn: entry.turn,
      startedAt: entry.startedAt,
      workspace: entry.workspace,
      threadId: entry.threadId,
      process: entry.process,
      lastEvent: entry.lastEvent,
      usage: entry.usage,
      agent: entry.agent,
      account: entry.account?.name ?? null,
      isAsking: questions.isAsking(entry.runId),
      canHear: entry.live?.canHear?.() ?? true,
      holdAfterwards: entry.holdAfterwards,
      warnings: entry.warnings,
    })),
    retrying: retries.filter((retry) => !waitsForQuota(retry)),
    waitingQuota: retries.filter(waitsForQuota),
    questions: questions.list(),
    accounts: accounts.views(accountsIn(settings), settings.agent.quotaStopPercent),
    agents: agentNames(settings),
    taskAgents: taskAgents(settings),
    held: [...claims.held.values()].map(({ status: _status, generation: _generation, ...hold }) => hold),
    paused: parts.pause.state,
    skipped: [...parts.skipped.values()],
    completed: [...parts.finishedIssues.completed.values()],
    candidates: candidates.list ?? [],
    isPolled: candidates.polled !== null,
    reviews: (candidates.polled ?? []).filter(isInOneOf(settings.tracker.reviewStates)),
    governing: parts.marks.all(),
    pulls: parts.pullWatch.open,
    proposals: parts.proposals.list,
    phaseNames: parts.phases.isOn ? phaseNames(settings.pipeline) : [],
    phases: parts.phases.standings(),
    today: todayOf(parts, settings),
    totals: { ...totals, runsByEnd: Object.fromEntries(runsByEnd) },
    workflowProblem: problem,
    workflowWaiting: waiting,
    noHeadroom: headroom.whyNone()?.text ?? null,
    environment: environment.problem,
    errors: facts.errors.filter(({ error }) => !isSame(error, problem)),
  };
}

function todayOf({ spending }: ReadModelParts, settings: Settings): ReadModel['today'] {
  const { limits } = settings;
  const spent = spending.today();
  const allowed = spending.allowedAfter();
  const reached = limitsOfDay(spent, limits)
    .filter(({ level }) => level === 'reached')
    .map((finding) => ({
      ...finding,
      allowedAfter: finding.limit === 'tokens_per_day' ? allowed.tokens : allowed.microUsd,
    }));
  return {
    ...spent,
    tokenLimit: limits.tokensPerDay,
    usdLimit: limits.usdPerDay,
    ...(reached.length === 0 ? {} : { reached }),
    roles: roleBudgets(settings, (role) => spending.roles.of(role)),
  };
}

/** Whether it waits for the quota of an account, not because of the issue. */
function waitsForQuota({ kind, waitCode }: RetryingView): boolean {
  return kind === 'quota' || waitCode === 'waiting_quota';
}
