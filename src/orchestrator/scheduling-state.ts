import type { AgentEvent, AgentProcess, TokenUsage } from '../agent/agent.ts';
import type { Timer } from '../clock/clock.ts';
import type { SkipReason } from '../core/eligibility.ts';
import type { Issue } from '../core/issue.ts';
import type { RunEnd, RunStage, StopReason } from '../core/run.ts';
import type { RetryKind } from '../core/workflow.ts';
import type { LiveRun } from '../runner/runner.ts';

/**
 * What the orchestrator knows, and nobody else may change (law 1).
 *
 * An issue is claimed while it is in exactly one of `running`, `retrying` and `held` (seed 2, Issue Orchestration
 * States); it is unclaimed otherwise. Who enters: `running` by dispatch or a look, `retrying` by a run's exit, `held` by a run that
 * needs a person or by a command. Who leaves: `running` only when the run's outcome is known, so when its processes are
 * gone; `retrying` when its look comes due; `held` when the issue leaves the active states or by a command. Of this,
 * `held` and `paused` survive the process.
 */
export interface SchedulingState {
  readonly running: Map<string, RunningEntry>;
  readonly retrying: Map<string, RetryEntry>;
  readonly held: Map<string, HeldEntry>;
  /** Why issues that the last look found were not started, by issue id. */
  readonly skipped: Map<string, SkippedEntry>;
  /** Nothing new starts while this is set. */
  paused: Pause | null;
  /** Maintenance in progress beside the ticks. */
  maintenance: Promise<void> | null;
  readonly totals: {
    runs: number;
    runsByEnd: Map<RunEnd, number>;
    inputTokens: number;
    outputTokens: number;
    totalTokens: number;
  };
}

export interface RunningEntry {
  readonly runId: string;
  /** As last read from the tracker; slots are counted by its state. */
  issue: Issue;
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  /** Failures in a row before this run. */
  readonly failures: number;
  readonly run: LiveRun;
  readonly startedAt: number;
  /** On the monotonic clock, for stalls. */
  readonly startedAtMonotonic: number;
  lastEventAtMonotonic: number | null;
  lastEvent: AgentEvent | null;
  stage: RunStage;
  turn: number;
  workspace: string | null;
  threadId: string | null;
  process: AgentProcess | null;
  usage: TokenUsage;
  /** Why it was asked to end, null while it was not. */
  stopRequested: StopReason | null;
  /** Where the run itself last moved its issue, and when. */
  ownMove: { readonly to: string; readonly atMonotonic: number } | null;
  /** The issue is held when this run has ended, whatever its outcome; why. */
  holdAfterwards: string | null;
}

export interface RetryEntry {
  readonly issue: Issue;
  readonly kind: RetryKind;
  /** What a prompt sees: 1 for a continuation, the failures in a row otherwise. */
  readonly attempt: number;
  readonly failures: number;
  readonly error: string | null;
  /** Wall time. */
  readonly dueAt: number;
  /** Looks that found no slot; they raise neither the attempt nor the wait. */
  readonly slotWaits: number;
  readonly timer: Timer;
}

export interface HeldEntry {
  readonly issue: IssueName;
  /** For programs: an error code, or `person`. */
  readonly code: string;
  readonly reason: string;
  readonly since: number;
  readonly runId: string | null;
}

/** What is known of an issue without reading the tracker. */
export interface IssueName {
  readonly id: string;
  readonly identifier: string;
}

export interface Pause {
  readonly since: number;
  /** A drain ends the daemon with its last run. */
  readonly kind: 'pause' | 'drain';
  readonly reason: string | null;
}

export interface SkippedEntry {
  readonly issue: Issue;
  readonly reason: SkipReason;
}

export function emptySchedulingState(): SchedulingState {
  return {
    running: new Map(),
    retrying: new Map(),
    held: new Map(),
    skipped: new Map(),
    paused: null,
    maintenance: null,
    totals: { runs: 0, runsByEnd: new Map(), inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  };
}

/** Why an issue may not be claimed a second time, or null when it is free. */
export function whyClaimed(state: SchedulingState, issueId: string): SkipReason | null {
  if (state.running.has(issueId)) return { code: 'claimed', text: 'an agent is running on it' };
  if (state.retrying.has(issueId)) return { code: 'claimed', text: 'it waits for its next look' };
  if (state.held.has(issueId)) return { code: 'claimed', text: 'it is held for a person' };
  return null;
}

/** The tracker states of the running issues, for counting slots. */
export function runningStates(state: SchedulingState): string[] {
  return [...state.running.values()].map((entry) => entry.issue.state);
}

export function claimedIds({ running, retrying, held }: SchedulingState): string[] {
  return [...running.keys(), ...retrying.keys(), ...held.keys()];
}
