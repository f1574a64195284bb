import type { AgentEvent, AgentProcess } from '../agent/agent.ts';
import type { Timer } from '../clock/clock.ts';
import type { RecoveryStep } from '../core/context-recovery.ts';
import type { SkipReason } from '../core/eligibility.ts';
import type { Issue } from '../core/issue.ts';
import type { DaySpent, IssueSpent, LimitFinding } from '../core/limits.ts';
import type { QueueFindings } from '../core/queue-health.ts';
import type { RunEnd, RunStage, StopReason } from '../core/run.ts';
import type { AccountSettings, TrackerSettings } from '../core/settings.ts';
import type { RetryKind, Workflow } from '../core/workflow.ts';
import type { PollError } from './poll.ts';
import type { RecordedRun } from './recorded-run.ts';
import type { RunUsage } from './run-usage.ts';

/**
 * What the orchestrator knows, and nobody else may change (law 1).
 *
 * An issue is claimed while it is in exactly one of `running`, `retrying` and `held` (seed 2, Issue Orchestration
 * States), or passes from one life to the next in `adopting`; it is unclaimed otherwise. The store has a claim for each,
 * written before the issue enters here, and behind each claim a run without an end, a retry or a hold. Who enters:
 * `running` by dispatch or a look, `retrying` by a run's exit, `held` by a run that needs a person, by a limit or by a
 * command. Who leaves: `running` only when the run's end is written, so when its processes are gone; `retrying` when its
 * look comes due; `held` when the issue leaves the active states or by a command.
 */
export interface SchedulingState {
  readonly running: Map<string, RunningEntry>;
  readonly retrying: Map<string, RetryEntry>;
  readonly held: Map<string, HeldEntry>;
  /** Issues that an earlier life, or a daemon that is gone, left behind, while they are being taken over. */
  readonly adopting: Set<string>;
  /** Issues whose earlier agent may be alive and that could not be taken over yet; each takes a slot until they are. */
  readonly leftBehind: Set<string>;
  /** Looks that are being carried out just now; a newer promise for the same issue is another look. */
  readonly looking: Set<RetryEntry>;
  /** Issues whose workspace is being removed. */
  readonly cleaning: Set<string>;
  /** The generation of each claim that is ours; whoever writes about a claimed issue shows it. */
  readonly generations: Map<string, number>;
  /** What the last poll found, as it found it, and by which settings; null before the first answer. */
  polled: { readonly issues: readonly Issue[]; readonly by: TrackerSettings } | null;
  /** Of these, the issues in active states, with what was learned of them since; null before the first answer. */
  candidates: readonly Issue[] | null;
  /** Candidates that turned out, when they were read by id, to be other than the poll had them: the next one looks at them. */
  readonly doubtful: Set<string>;
  /** Grows when a poll found something else than the one before. */
  candidatesRevision: number;
  /** The issues that are in review, as far as is known; null where nobody counts them, or before the first poll. */
  inReview: Set<string> | null;
  /** Issues that nobody has and that have a workspace here, as the last sweep found them. */
  withWorkspace: readonly string[];
  /** What other daemons on the same store have claimed, as of the last poll. */
  elsewhere: readonly ForeignClaim[];
  /** Why issues that the last look found were not started, by issue id. */
  readonly skipped: Map<string, SkippedEntry>;
  /** Issues that Baton gave back and that are not over, by id. Only for people: it gates nothing, and is bounded. */
  readonly followed: Map<string, FollowedIssue>;
  /** Issues that reached a terminal state, the latest last. Only for people: it gates nothing, and is bounded. */
  readonly completed: Map<string, CompletedEntry>;
  /** Nothing new starts while this is set. */
  paused: Pause | null;
  /** The command that last changed `paused` here, until its answer is in the store: what is read there is older. */
  unansweredPause: string | null;
  /** What the project has used today, runs in flight here not included, and what a person allowed beyond the limit. */
  readonly today: Today;
  /** When the store was last asked for these, on the monotonic clock. */
  readonly lookedAt: {
    orphansLookedForAt: number;
    pauseReadAt: number;
  };
  /** What the last poll found wrong. */
  pollErrors: readonly PollError[];
  /** What the last look at the queue found; for people. */
  findings: QueueFindings;
  readonly totals: Totals;
}

export interface Totals {
  runs: number;
  /** How long the runs that have ended took together. */
  runMs: number;
  readonly runsByEnd: Map<RunEnd, number>;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
}

export interface RunningEntry {
  readonly runId: string;
  /** As last read from the tracker; slots are counted by its state. */
  issue: Issue;
  /** The state that its start moves it to, until it is there: the slot is taken in that one. */
  movesTo: string | null;
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  /** What it does differently because the last one died of its context. */
  readonly recovery: RecoveryStep | null;
  /** Whose quota it uses; null until its start is written down. */
  account: AccountSettings | null;
  /** The one it began with; a reload is for the next run. */
  readonly workflow: Workflow;
  readonly run: RecordedRun;
  readonly startedAt: number;
  /** On the monotonic clock, for stalls and limits. */
  readonly startedAtMonotonic: number;
  /** How long it has waited for people, how many questions are open, and since when; on the monotonic clock. */
  readonly personWaits: { open: number; since: number; totalMs: number };
  /** What the issue had spent, failed and repeated before this run; null until its start is written down. */
  before: IssueCounts | null;
  lastEventAtMonotonic: number | null;
  lastEvent: AgentEvent | null;
  stage: RunStage;
  turn: number;
  workspace: string | null;
  threadId: string | null;
  process: AgentProcess | null;
  usage: RunUsage;
  /** Whether it changed anything, once that is known. */
  changed: boolean | null;
  /** Limits that are near or reached. */
  warnings: readonly LimitFinding[];
  /** When its process was first not found, on the monotonic clock; null while it is there. */
  processMissedAt: number | null;
  /** Why it was asked to end, null while it was not. */
  stopRequested: StopReason | null;
  /** Where the run itself last moved its issue, and when; to null: nobody knows where, by the tracker's own tool. */
  ownMove: { readonly to: string | null; readonly atMonotonic: number } | null;
  /** Its end is being written since this reading of the day: what it used may be among that of the day already. */
  settlingSince: number | null;
  /** The issue is held when this run has ended, whatever its outcome. */
  holdAfterwards: HoldReason | null;
}

/** What is counted of an issue since a person last let it go on, and its failures and fruitless runs in a row. */
export interface IssueCounts {
  readonly spent: IssueSpent;
  readonly failures: number;
  readonly staleRuns: number;
  /** Waits for a quota in a row. */
  readonly quotaWaits: number;
}

/** What a promise to look again is about; the store keeps it. */
export interface Look {
  readonly issue: IssueName;
  readonly kind: RetryKind;
  /** What a prompt sees: 1 for a continuation, the failures in a row after a failure, as it was after an interruption. */
  readonly attempt: number | null;
  readonly failures: number;
  readonly staleRuns: number;
  /** What the next run does differently, after one that died of its context. */
  readonly recovery: RecoveryStep | null;
  /** What a person wants the agent to know. */
  readonly note: string | null;
  /** Why the issue is looked at again. */
  readonly error: string | null;
  /** Wall time. */
  readonly dueAt: number;
}

export interface RetryEntry extends Look {
  /** Why the look that was due could not be carried through; null before it is due. */
  readonly wait: SkipReason | null;
  /** Looks that found no slot; they raise neither the attempt nor the wait. */
  readonly slotWaits: number;
  /** Looks in a row that the tracker did not answer. */
  readonly failedReads: number;
  readonly timer: Timer;
}

export interface HoldReason {
  /** For programs: an error code, or `person`. */
  readonly code: string;
  readonly reason: string;
}

export interface HeldEntry extends HoldReason {
  readonly issue: IssueName;
  readonly since: number;
  readonly runId: string | null;
}

/** What is known of an issue without reading the tracker. */
export interface IssueName {
  readonly id: string;
  readonly identifier: string;
  readonly url?: string | null;
}

export interface ForeignClaim {
  readonly issueId: string;
  readonly host: string | null;
  /** The state whose slot it takes; null when it takes none. */
  readonly slotState: string | null;
}

export interface Pause {
  readonly since: number;
  /** A drain ends the daemon with its last run. */
  readonly kind: 'pause' | 'drain';
  readonly reason: string | null;
}

export interface Today {
  /** How often it was read. */
  readings: number;
  /** UTC, `2026-11-15`. */
  day: string;
  tokens: number;
  microUsd: number;
  /** Of these, what runs without an end, that are not in flight here, had used at the last reading. */
  elsewhere: DaySpent;
  /** What had been used when a person last allowed more; only what comes after counts. */
  allowedAfter: { readonly tokens: number; readonly microUsd: number };
}

export interface SkippedEntry {
  readonly issue: Issue;
  readonly reason: SkipReason;
}

/** An issue that Baton gave back and that is not over; `follow-landings.ts` sees what becomes of it. */
export interface FollowedIssue {
  /** As it was last seen. */
  readonly issue: Issue;
  /** When the tracker was asked for that, wall time. */
  readonly openAt: number;
  /** The same on the monotonic clock. */
  readonly seenAt: number;
  /** Whether a run of it is known; null: nobody could say yet. Those without are only remembered, so that nobody asks twice. */
  readonly hasRun: boolean | null;
  /** Since when it is not among what polls list and should be, on the monotonic clock; null while it is where it was. */
  readonly missingSince: number | null;
}

export interface CompletedEntry {
  /** With its title and address, where they are known: the tracker may not show it any more. */
  readonly issue: IssueName & { readonly title?: string };
  readonly state: string;
  readonly at: number;
}

/** Why an issue may not be claimed a second time, or null when it is free. */
export function whyClaimed(state: SchedulingState, issueId: string): SkipReason | null {
  if (state.running.has(issueId)) return claimed('an agent is running on it');
  const retry = state.retrying.get(issueId);
  if (retry !== undefined) return claimed(retry.wait?.text ?? `it waits for its next look at ${iso(retry.dueAt)}`);
  const held = state.held.get(issueId);
  if (held !== undefined) return claimed(`it is held for a person: ${held.reason}`);
  if (state.adopting.has(issueId)) return claimed('it is being taken over from an earlier life');
  if (state.cleaning.has(issueId)) return { code: 'cleaning', text: 'its old workspace is being removed' };
  return null;
}

function claimed(text: string): SkipReason {
  return { code: 'claimed', text };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

/** What an issue counts as whose earlier agent is being ended: it may be alive, in whatever state. */
const beingTakenOver = 'being_taken_over';

/** The tracker states whose slots are taken, here and by other daemons on the same store. */
export function takenSlots(state: SchedulingState): string[] {
  const { running, held, adopting, elsewhere, leftBehind } = state;
  return [
    ...[...leftBehind].filter((id) => !isClaimed(state, id)).map(() => beingTakenOver),
    ...[...adopting].map(() => beingTakenOver),
    ...[...running.values()].map((entry) => entry.movesTo ?? entry.issue.state),
    ...[...held.values()].flatMap((entry) => slotOfHold(entry) ?? []),
    ...elsewhere.flatMap(({ slotState }) => slotState ?? []),
  ];
}

/** An agent that could not be ended may be alive, and takes its slot until a person says that it is not. */
export function slotOfHold({ code }: HoldReason): string | null {
  return code === 'agent_survives' ? code : null;
}

/** Every issue that is claimed here. */
export function isClaimed(state: SchedulingState, issueId: string): boolean {
  return (
    state.running.has(issueId) || state.retrying.has(issueId) || state.held.has(issueId) || state.adopting.has(issueId)
  );
}
