import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { RunOutcome } from '../core/run.ts';
import type { Settings } from '../core/settings.ts';
import type { WorkflowSource } from '../core/workflow.ts';
import type { Runner } from '../runner/runner.ts';
import type { Tracker } from '../tracker/tracker.ts';
import type { RetryEntry, RunningEntry, SchedulingState } from './scheduling-state.ts';

/** What the orchestrator is made of. */
export interface OrchestratorParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly source: WorkflowSource;
  readonly trackerFor: (settings: Settings) => Tracker;
  readonly runner: Runner;
}

/** What its steps work on: the parts, the state, and the ways to make something happen later. */
export interface OrchestratorContext extends OrchestratorParts {
  readonly state: SchedulingState;
  /** Aborted when the orchestrator stops; nothing new may start after that. */
  readonly stopping: AbortSignal;
  /** Asks for a tick as soon as the one in progress, if any, is over. Asking twice gives one. */
  readonly requestTick: () => void;
  /** A run has ended and nothing of it is left. */
  readonly runEnded: (entry: RunningEntry, outcome: RunOutcome) => void;
  /** A promised look has come due. */
  readonly lookDue: (entry: RetryEntry) => void;
  /** Tells the watchers that something changed. */
  readonly notify: () => void;
}
