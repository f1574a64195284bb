import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { RunOutcome } from '../core/run.ts';
import type { Settings } from '../core/settings.ts';
import type { WorkflowSource } from '../core/workflow.ts';
import type { Runner } from '../runner/runner.ts';
import type { Store } from '../store/store.ts';
import type { Transcripts } from '../store/transcript-files.ts';
import type { Tracker } from '../tracker/tracker.ts';
import type { Journal } from './journal.ts';
import type { RetryEntry, RunningEntry, SchedulingState } from './scheduling-state.ts';

/** What the orchestrator is made of. */
export interface OrchestratorParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly source: WorkflowSource;
  readonly trackerFor: (settings: Settings) => Tracker;
  readonly runner: Runner;
  readonly store: Store;
  /** The project's id in the store. */
  readonly project: string;
  /** The name of this machine, for the record of a run. */
  readonly host: string;
  readonly transcripts: Transcripts;
  /** Ends every process that carries the marker of a run of an earlier life. */
  readonly endProcessesOf: (runId: string) => Promise<{ readonly ended: number; readonly left: number }>;
  /** Limits a trial to these issues (ids or identifiers) and to so many runs; null: no limit. */
  readonly trial: Trial | null;
}

export interface Trial {
  readonly only: readonly string[] | null;
  readonly maxRuns: number | null;
}

/** What its steps work on: the parts, the state, and the ways to make something happen later. */
export interface OrchestratorContext extends OrchestratorParts {
  readonly state: SchedulingState;
  readonly journal: Journal;
  /** Aborted when the orchestrator stops; nothing new may start after that. */
  readonly stopping: AbortSignal;
  /** Asks for a tick as soon as the one in progress, if any, is over. Asking twice gives one. */
  readonly requestTick: () => void;
  /** A run has ended and nothing of it is left. */
  readonly runEnded: (entry: RunningEntry, outcome: RunOutcome) => void;
  /** A promised look has come due. */
  readonly lookDue: (entry: RetryEntry) => void;
  /** Carries out the commands that wait. */
  readonly knock: () => Promise<void>;
  /** Takes over work that nobody waits for here; a stop waits for it. */
  readonly own: (what: string, work: Promise<unknown>) => void;
  /** Tells the watchers that something changed. */
  readonly notify: () => void;
}
