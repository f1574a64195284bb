import type { AgentEvent, AgentProcess } from '../../agent/agent.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { PlanWork } from '../../core/planner/plan.ts';
import type { JudgedCommit, Opinion } from '../../core/pull/judge.ts';
import type { AgentReason } from '../../core/run/choose-agent.ts';
import type { RecoveryStep } from '../../core/run/context-recovery.ts';
import type { LimitFinding } from '../../core/run/limits.ts';
import type { Role } from '../../core/run/role.ts';
import type { RunStage, StopReason } from '../../core/run/run.ts';
import { noEvidence, type RunEvidence } from '../../core/run/run-evidence.ts';
import type { AccountSettings } from '../../core/settings.ts';
import type { RetryKind, Workflow } from '../../core/workflow.ts';
import type { LiveRun } from '../../runner/runner.ts';
import type { StoredCompletion } from '../../store/tables/pipeline/completion-claims.ts';
import { nothingUsed, type RunUsage } from './run-usage.ts';

/** A completion claim of a live run, as the store has it. */
export type RunCompletion = Pick<StoredCompletion, 'id' | 'phase' | 'skipTo' | 'found'>;

/** The state of a run in progress, next to its claim. Only the modules of `runs/` change it. */
export interface RunState {
  readonly runId: string;
  readonly role: Role;
  /** What a judge reviews; null for a worker. */
  readonly judged: JudgedCommit | null;
  /** The phase that a phase agent or the judge of its artifact works on; null for all others. */
  readonly phase: string | null;
  /** The completion claim that a judge reviews; null for all others. */
  readonly judgedClaim: string | null;
  /** How often the artifact of its phase was sent back before; known when its start is written. */
  revisions: number;
  /** The phase that its issue is in, as last read; another one than its own when a person moved the issue. */
  phaseNow: string | null;
  /** The last completion claim of its agent, or the one that it judges; null: none. */
  completion: RunCompletion | null;
  /** What became of the plan of a planner; null: it has made none. */
  plan: { readonly made: 'all' | 'not_yet' } | null;
  /** What its run was for by the plan of its issue: `parent` means that the issue was split, and all parts are over. */
  readonly plannedAs: PlanWork;
  /** What the judge said last; null before. */
  opinion: Opinion | null;
  /** This and the next two are known for certain when its start is written. */
  attempt: number | null;
  retryKind: RetryKind | null;
  /** What it does differently because the last run used up its context. */
  recovery: RecoveryStep | null;
  /** The workflow it began with, with the settings of its agent; a reload applies to the next run. */
  readonly workflow: Workflow;
  /** The name of its agent in the workflow file, and why that was chosen. */
  readonly agent: string;
  readonly agentReason: AgentReason;
  /** The agent that a person chose; the retries after this run keep it. */
  readonly chosenAgent: string | null;
  readonly startedAt: number;
  /** On the monotonic clock, for stalls and limits. */
  readonly startedAtMonotonic: number;
  /** The account whose quota it uses; null until its start is written. */
  account: AccountSettings | null;
  /** Its agent's session and turns; null until the runner has started it. */
  live: LiveRun | null;
  readonly stopped: AbortController;
  /** Why it was asked to end; null if it was not. */
  stopRequested: StopReason | null;
  /** Resolves when nothing of the run is left, whether it began or not. */
  readonly over: PromiseWithResolvers<void>;
  /** How long it has waited for people, how many questions are open, and since when; on the monotonic clock. */
  readonly personWaits: { open: number; since: number; totalMs: number };
  lastEventAtMonotonic: number | null;
  lastEvent: AgentEvent | null;
  stage: RunStage;
  turn: number;
  workspace: string | null;
  threadId: string | null;
  process: AgentProcess | null;
  /** When its process was first missing, on the monotonic clock; null while the process exists. */
  processMissedAt: number | null;
  usage: RunUsage;
  changed: boolean | null;
  evidence: RunEvidence;
  /** Whether it made commits; null where that is unknown, or its workspace is not a git repository. */
  committed: boolean | null;
  warnings: readonly LimitFinding[];
  /** Where the run itself last moved its issue, and when. `to` is null where the agent used the tracker's own tool. */
  ownMove: { readonly to: string | null; readonly atMonotonic: number } | null;
  /** The issue, where the runner saw after a turn that no agent should work on it any more; null: it is gone. */
  lastSeen: Issue | null | undefined;
  /** Its agent knows the comments on the issue until then; null: it does not. */
  commentsUntil: number | null;
  /** Its agent began a turn. */
  hasBegun: boolean;
  /** The reading of the day since which its end is being written: later readings may already count its usage. */
  settlingSince: number | null;
}

export function newRunState(
  run: Pick<
    RunState,
    | 'runId'
    | 'role'
    | 'judged'
    | 'phase'
    | 'judgedClaim'
    | 'plannedAs'
    | 'attempt'
    | 'retryKind'
    | 'recovery'
    | 'workflow'
    | 'agent'
    | 'agentReason'
    | 'chosenAgent'
  >,
  clock: Clock,
): RunState {
  return {
    ...run,
    startedAt: clock.now(),
    startedAtMonotonic: clock.monotonic(),
    opinion: null,
    completion: null,
    plan: null,
    revisions: 0,
    phaseNow: run.phase,
    account: null,
    live: null,
    stopped: new AbortController(),
    stopRequested: null,
    over: Promise.withResolvers(),
    personWaits: { open: 0, since: 0, totalMs: 0 },
    lastEventAtMonotonic: null,
    lastEvent: null,
    stage: 'preparing_workspace',
    turn: 0,
    workspace: null,
    threadId: null,
    process: null,
    processMissedAt: null,
    usage: nothingUsed,
    changed: null,
    evidence: noEvidence,
    committed: null,
    warnings: [],
    ownMove: null,
    lastSeen: undefined,
    commentsUntil: null,
    hasBegun: false,
    settlingSince: null,
  };
}

/**
 * Counts `asking` as time in which the run waits for a person; limits on the duration of a run exclude that time. The
 * run waits while at least one question is open.
 */
export async function waitingForPerson<T>(run: RunState, clock: Clock, asking: Promise<T>): Promise<T> {
  const { personWaits: waits } = run;
  if (waits.open === 0) waits.since = clock.monotonic();
  waits.open += 1;
  try {
    return await asking;
  } finally {
    waits.open -= 1;
    if (waits.open === 0) waits.totalMs += clock.monotonic() - waits.since;
  }
}

/** How long a run has taken so far, without the time in which it waited for a person. */
export function ownTimeMs(run: RunState, clock: Clock): number {
  const now = clock.monotonic();
  const { open, since, totalMs } = run.personWaits;
  const waitedMs = totalMs + (open > 0 ? now - since : 0);
  return now - run.startedAtMonotonic - waitedMs;
}
