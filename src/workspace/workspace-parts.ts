import type { Logger } from '../core/logger.ts';
import type { HookSettings, WorkspaceSettings } from '../core/settings.ts';
import type { Redactor } from '../core/text/redact.ts';
import type { Isolate } from '../process/isolation/plan-isolation.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import type { Checkouts } from './git/checkout/checkout.ts';
import type { CheckoutsParts } from './git/checkout/checkouts.ts';
import type { Salvage } from './salvage/salvage.ts';
import type { RemovalVisit } from './workspace.ts';
import type { WorkspaceResources } from './workspace-resources.ts';

export interface LocalWorkspaceParts extends ProcessDeps {
  /** The project of the workspaces: saved work carries its `project.name`. */
  readonly project: string;
  readonly settings: WorkspaceSettings;
  readonly hooks: HookSettings;
  /** The daemon's own environment, from which hooks get the usual variables. */
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  /** Names of variables that hold tracker secrets; no hook sees them. */
  readonly secretEnvironment: readonly string[];
  /** Removes secrets from what hooks print; absent: it knows none. */
  readonly redactor?: Redactor;
  /** What hooks see of the machine's files; absent: what the user sees. */
  readonly isolate?: Isolate;
  readonly resources: WorkspaceResources;
  /** Whether the work has to end on a branch that Baton publishes; absent: it does not. */
  readonly needsBranch?: boolean;
  /** The complete command line that restores saved work. */
  readonly restoreCommand: (name: string) => string;
  readonly logger: Logger;
  /** The file that governs the agents; absent: the one of the usual name. */
  readonly workflowPath?: string;
  /** Another file with a prompt for agents, absolute. */
  readonly promptFile?: string | null;
  /** Brings the base of a remote host into the repository that workspaces come from, before a run begins. */
  readonly fetchBase?: CheckoutsParts['fetchBase'];
}

/** The dependencies that the files of this module share. */
export interface WorkspaceParts extends LocalWorkspaceParts {
  /** Present even without a strategy, because older workspaces may exist. */
  readonly checkouts: Checkouts;
  readonly salvage: Salvage;
  /** Before a removal: publishes the branch of a checkout. Never rejects, logs the result. */
  readonly publish: (path: string, visit: RemovalVisit) => Promise<void>;
}
