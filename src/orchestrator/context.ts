import type { AgentEvent, AgentProcess } from '../agent/agent.ts';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { Author } from '../core/author.ts';
import type { RoomLeft } from '../core/free-room.ts';
import type { Logger } from '../core/logger.ts';
import type { RunEnd, RunOutcome } from '../core/run.ts';
import type { Settings } from '../core/settings.ts';
import type { RetryKind, WorkflowSource } from '../core/workflow.ts';
import type { Runner } from '../runner/runner.ts';
import type { Store } from '../store/store.ts';
import type { Transcripts } from '../store/transcript-files.ts';
import type { Tracker } from '../tracker/tracker.ts';
import type { Workspaces } from '../workspace/workspace.ts';
import type { AccountBook } from './account-book.ts';
import type { Activity } from './activity.ts';
import type { Health } from './health.ts';
import type { Journal } from './journal.ts';
import type { Ledger } from './ledger.ts';
import type { OpenQuestions } from './open-questions.ts';
import type { RoomWatch } from './room-watch.ts';
import type { RunUsage } from './run-usage.ts';
import type { RetryEntry, RunningEntry, SchedulingState } from './scheduling-state.ts';
import type { PoolMember } from './slot-pool.ts';
import type { Takeover } from './takeover.ts';
import type { TrackerReads } from './tracker-reads.ts';

/** What the orchestrator is made of. */
export interface OrchestratorParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly source: WorkflowSource;
  readonly trackerFor: (settings: Settings) => Tracker;
  readonly workspacesFor: (settings: Settings) => Workspaces;
  readonly runner: Runner;
  readonly store: Store;
  /** Whether other daemons may work on the same store. */
  readonly isShared: boolean;
  /** The project's id in the store. */
  readonly project: string;
  /** Who this daemon is in the store: the same after a restart, different from every other. */
  readonly owner: string;
  /** The name of this machine, for the record of a run. */
  readonly host: string;
  readonly transcripts: Transcripts;
  readonly processes: Processes;
  /** What the machine has left for new work. May hang, or reject: then it is unknown. */
  readonly roomLeft: (settings: Settings) => Promise<RoomLeft>;
  /** Drops salvaged work that is older than these settings want; gives how much. May reject. */
  readonly pruneSalvage: (settings: Settings) => Promise<number>;
  /** Takes in what other daemons on the store have asked of remote services. May reject. */
  readonly refreshRequests: () => Promise<void>;
  /** When a person last touched the file that says so, wall time; null where there is none. */
  readonly touchedAt: () => number | null;
  /** Slots that several projects of this Baton share; null where it is alone. */
  readonly pool: PoolMember | null;
  /** Limits a trial to these issues (ids or identifiers) and to so many runs; null: no limit. */
  readonly trial: Trial | null;
  /** Changes the issues themselves, where they are Baton's own; absent elsewhere, and where nobody asks for it. */
  readonly issueDesk?: () => IssueDesk | null;
  /** Hears of each event of a run with its number. It must be quick, and not throw. */
  readonly onRunEvent?: (runId: string, seq: number, event: AgentEvent) => void;
  /** Hears of each run that has ended. It must be quick, and not throw. */
  readonly onRunEnd?: (run: EndedRun) => void;
  /** Takes the health record of each tick. */
  readonly onHealth: (health: Health) => void;
}

/** A run that has ended, in figures. */
export interface EndedRun {
  readonly outcome: RunEnd;
  readonly retryKind: RetryKind | null;
  readonly durationMs: number;
  readonly usage: RunUsage;
}

/** What the orchestrator asks the machine about processes that it has no other hold on. */
export interface Processes {
  /** Ends every process on this machine that an earlier life of this daemon started. */
  endEarlierLives(): Promise<{ readonly ended: number; readonly left: readonly { readonly runId: string | null }[] }>;
  /** Ends every process on this machine that carries the marker of this run, or is in the session it began with. */
  endRun(runId: string, began: AgentProcess | null): Promise<{ readonly ended: number; readonly left: number }>;
  /** Ends all processes of these runs without asking them first. */
  endAtOnce(runIds: readonly string[]): Promise<void>;
  isAlive(process: AgentProcess): boolean;
}

/**
 * Changes of the issues themselves. Each gives the identifier of the issue, and rejects with the reason when it is not
 * allowed. Carried out a second time, with the same command, it changes nothing more.
 */
export interface IssueDesk {
  move(issue: string, to: string, by: DeskOrder): Promise<string>;
  comment(issue: string, text: string, by: DeskOrder): Promise<string>;
  file(fields: Readonly<Record<string, unknown>>, by: DeskOrder): Promise<string>;
  edit(issue: string, fields: Readonly<Record<string, unknown>>, by: DeskOrder): Promise<string>;
}

export interface DeskOrder {
  /** The command that asks for it. */
  readonly commandId: string;
  readonly author: Author;
  readonly reason: string | null;
}

export interface Trial {
  readonly only: readonly string[] | null;
  readonly maxRuns: number | null;
}

/** What its steps work on: the parts, the state, and the ways to make something happen later. */
export interface OrchestratorContext extends OrchestratorParts {
  readonly state: SchedulingState;
  readonly ledger: Ledger;
  readonly takeover: Takeover;
  readonly journal: Journal;
  readonly reads: TrackerReads;
  readonly room: RoomWatch;
  readonly activity: Activity;
  readonly accounts: AccountBook;
  readonly questions: OpenQuestions;
  /** Whether a claim that was asked for at this monotonic time is surely still ours. */
  readonly isClaimSafe: (claimedAt: number) => boolean;
  /** Aborted when the orchestrator stops; nothing new may start after that. */
  readonly stopping: AbortSignal;
  /** Asks for a tick and a poll as soon as those in progress, if any, are over. Asking twice gives one. */
  readonly requestTick: () => void;
  /** Fills free slots from the candidates already known, now. */
  readonly fillSlots: () => void;
  /** A run has ended and nothing of it is left. */
  readonly runEnded: (entry: RunningEntry, outcome: RunOutcome) => void;
  /** A promised look has come due. */
  readonly lookDue: (entry: RetryEntry) => void;
  /** Takes over work that nobody waits for here; a stop waits for it. */
  readonly own: (what: string, work: Promise<unknown>) => void;
  /** Tells the watchers that something changed. */
  readonly notify: () => void;
}
