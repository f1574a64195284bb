import type { AgentProcess } from '../agent/agent.ts';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { SchemaProblem } from '../core/pipeline/completion.ts';
import type { RunEnd } from '../core/run/run.ts';
import type { Settings } from '../core/settings.ts';
import type { RetryKind, WorkflowSource } from '../core/workflow.ts';
import type { Store } from '../store/store.ts';
import type { Tracker } from '../tracker/tracker.ts';
import type { Workspaces } from '../workspace/workspace.ts';
import type { RunUsage } from './runs/run-usage.ts';

/** What many parts of the orchestrator need; each part picks its own subset. */
export interface BaseParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly source: WorkflowSource;
  readonly store: Store;
  /** Whether other daemons may work on the same store. */
  readonly isShared: boolean;
  /** The project's id in the store. */
  readonly project: string;
  /** The identity of this daemon in the store: the same after a restart, different from every other daemon. */
  readonly owner: string;
  /** The name of this machine, for the record of a run. */
  readonly host: string;
  readonly trackerFor: (settings: Settings) => Tracker;
  readonly workspacesFor: (settings: Settings) => Workspaces;
  readonly processes: Processes;
  /** Checks an artifact that is JSON; absent: it is not checked. */
  readonly schemaProblem?: SchemaProblem | undefined;
  /** How long a claim lasts without a renewal. */
  readonly leaseMs: () => number;
  /** Aborted when the orchestrator stops; nothing new may start after that. */
  readonly stopping: AbortSignal;
  /** Owns work that its caller does not await; a stop waits for it. */
  readonly own: (what: string, work: Promise<unknown>) => void;
  /** Tells the watchers about a change. */
  readonly notify: () => void;
  /** Asks for a tick and a poll as soon as those in progress, if any, have finished. */
  readonly requestTick: () => void;
}

export interface EndedRun {
  readonly outcome: RunEnd;
  readonly retryKind: RetryKind | null;
  readonly durationMs: number;
  readonly usage: RunUsage;
}

/** Access to processes on this machine that the orchestrator has no handle for. */
export interface Processes {
  /** Ends every process on this machine that this daemon started before a restart. */
  endLeftovers(): Promise<{ readonly ended: number; readonly left: readonly { readonly runId: string | null }[] }>;
  /** Ends every process on this machine that carries the marker of this run, or is in the session it began with. */
  endRun(runId: string, began: AgentProcess | null): Promise<{ readonly ended: number; readonly left: number }>;
  /** Ends all processes of these runs without asking them first. */
  endAtOnce(runIds: readonly string[]): Promise<void>;
  isAlive(process: AgentProcess): boolean;
}

export interface Trial {
  readonly only: readonly string[] | null;
  readonly maxRuns: number | null;
}
