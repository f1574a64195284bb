import type { Logger } from '../core/logger.ts';
import type { HookSettings, WorkspaceSettings } from '../core/settings.ts';
import type { IsolationPlan } from '../process/isolation/isolation-plan.ts';
import type { IsolationPlace } from '../process/isolation/plan-isolation.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import type { Checkouts } from './git/checkout/checkout.ts';
import type { Salvage } from './salvage/salvage.ts';
import type { RemovalVisit } from './workspace.ts';
import type { WorkspaceGround } from './workspace-ground.ts';

export interface LocalWorkspaceParts extends ProcessDeps {
  /** Whose work is saved, by `project.name`. */
  readonly project: string;
  readonly settings: WorkspaceSettings;
  readonly hooks: HookSettings;
  /** The daemon's own environment, from which hooks get the usual variables. */
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  /** Names of variables that hold tracker secrets; no hook sees them. */
  readonly secretEnvironment: readonly string[];
  /** What hooks see of the machine's files; absent: what the user sees. */
  readonly isolate?: (place: IsolationPlace) => IsolationPlan | null;
  readonly ground: WorkspaceGround;
  /** The whole command line that restores a saved work. */
  readonly restoreCommand: (name: string) => string;
  readonly logger: Logger;
  /** The file that governs the agents; absent: the one of the usual name. */
  readonly workflowPath?: string;
}

/** What the files of this module share. */
export interface WorkspaceParts extends LocalWorkspaceParts {
  /** Also without a strategy: there may be workspaces from before. */
  readonly checkouts: Checkouts;
  readonly salvage: Salvage;
  /** Before a removal: publishes the branch of a checkout. Never rejects, logs the result. */
  readonly publish: (path: string, visit: RemovalVisit) => Promise<void>;
}
