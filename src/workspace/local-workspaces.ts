import { lstat } from 'node:fs/promises';
import type { Logger } from '../core/logger.ts';
import type { HookSettings, WorkspaceSettings } from '../core/settings.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import { deliverBranch } from './deliver-branch.ts';
import { hasCode } from './error-reason.ts';
import { examineWorkspace } from './examine-workspace.ts';
import { finishRemovals } from './finish-removals.ts';
import type { Checkouts } from './git/checkout/checkout.ts';
import { createCheckouts } from './git/checkout/checkouts.ts';
import { runHook, runHookAnyway } from './hooks.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { prepareWorkspace } from './prepare-workspace.ts';
import { removeWorkspace } from './remove-workspace.ts';
import { createSalvage } from './salvage/create-salvage.ts';
import type { Salvage } from './salvage/salvage.ts';
import { verifyWorkspace } from './verify-workspace.ts';
import type { RemovalVisit, Workspaces } from './workspace.ts';
import type { WorkspaceGround } from './workspace-ground.ts';
import { creationMark } from './workspace-marks.ts';
import { workspacePath } from './workspace-path.ts';

export interface LocalWorkspaceParts extends ProcessDeps {
  /** Whose work is saved, by `project.name`. */
  readonly project: string;
  readonly settings: WorkspaceSettings;
  readonly hooks: HookSettings;
  /** The daemon's own environment, from which hooks get the usual variables. */
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  /** Names of variables that hold tracker secrets; no hook sees them. */
  readonly secretEnvironment: readonly string[];
  readonly ground: WorkspaceGround;
  /** The whole command line that brings a saved work back. */
  readonly restoreCommand: (name: string) => string;
  readonly logger: Logger;
}

/** What the files of this room work with. */
export interface WorkspaceParts extends LocalWorkspaceParts {
  /** Also without a strategy: there may be workspaces from before. */
  readonly checkouts: Checkouts;
  readonly salvage: Salvage;
  /** Before a removal: brings the branch of a checkout home. Never rejects, logs what it did. */
  readonly publish: (path: string, visit: RemovalVisit) => Promise<void>;
}

/** Workspaces as directories of this machine. */
export function createLocalWorkspaces(given: LocalWorkspaceParts): Workspaces {
  const { settings, ground, clock, logger } = given;
  const { git, places, oneAtATime } = ground;
  const checkouts = createCheckouts({ git, places, settings, clock, logger });
  const findCheckout = checkouts.find;
  const parts: WorkspaceParts = {
    ...given,
    checkouts,
    salvage: createSalvage({ ...given, git, places, repo: settings.repo, archive: settings.archive, findCheckout }),
    publish: async (path, visit) => {
      await deliverBranch(path, visit, 'goes', { checkouts, logger });
    },
  };
  return {
    prepare: (visit) => prepareWorkspace(visit, parts),
    beforeRun: async (workspace, visit) => {
      if (parts.hooks.beforeRun === null) return;
      await runHook('before_run', parts.hooks.beforeRun, { path: workspace.path, visit }, parts);
    },
    verify: ({ path }, { issue }) => verifyWorkspace(settings.root, path, issue.identifier),
    afterRun: async (workspace, visit) => {
      const { afterRun } = parts.hooks;
      if (afterRun !== null) await runHookAnyway('after_run', afterRun, { path: workspace.path, visit }, parts);
      return await deliverBranch(workspace.path, visit, 'stays', parts);
    },
    bringHome: (path, visit) => deliverBranch(path, visit, 'stays', parts),
    pathOf: (identifier) => workspacePath(settings.root, identifier),
    isThere: async (path) =>
      (await isSomething(path)) ||
      (await isSomething(creationMark(path))) ||
      (await checkouts.find(path).catch(() => true)) !== null,
    remove: (place, visit) => oneAtATime(place.path, () => removeWorkspace(place, visit, parts)),
    finishRemovals: (root) => finishRemovals(root, parts),
    examine: async (path) =>
      examineWorkspace(path, { git, places, checkout: await findCheckout(path).catch(() => null) }),
    list: (root) => listWorkspaces(root),
  };
}

async function isSomething(path: string): Promise<boolean> {
  return (await lstat(path).catch((error: unknown) => (hasCode(error, 'ENOENT') ? null : true))) !== null;
}
