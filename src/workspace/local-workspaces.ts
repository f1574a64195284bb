import { lstat, mkdir, rm } from 'node:fs/promises';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { HookSettings } from '../core/settings.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import { runHook } from './hooks.ts';
import type { Workspace, Workspaces, WorkspaceVisit } from './workspace.ts';
import { workspacePath } from './workspace-path.ts';

export interface WorkspaceParts extends ProcessDeps {
  /** Absolute. */
  readonly root: string;
  readonly hooks: HookSettings;
  /** The daemon's own environment, from which hooks get the usual variables. */
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  /** Names of variables that hold tracker secrets; no hook sees them. */
  readonly secretEnvironment: readonly string[];
  readonly logger: Logger;
}

/** Workspaces as directories of this machine. They are kept: nothing here removes one that an agent may have worked in. */
export function createLocalWorkspaces(parts: WorkspaceParts): Workspaces {
  return {
    prepare: (visit) => prepare(visit, parts),
    beforeRun: async (workspace, visit) => {
      if (parts.hooks.beforeRun === null) return;
      await runHook('before_run', parts.hooks.beforeRun, { path: workspace.path, visit }, parts);
    },
    afterRun: async (workspace, visit) => {
      if (parts.hooks.afterRun === null) return;
      try {
        await runHook('after_run', parts.hooks.afterRun, { path: workspace.path, visit }, parts);
      } catch (error) {
        const { id, identifier } = visit.issue;
        parts.logger.warn('The hook after_run failed; that changes nothing.', {
          issue_id: id,
          issue_identifier: identifier,
          run_id: visit.runId,
          error,
        });
      }
    },
  };
}

async function prepare(visit: WorkspaceVisit, parts: WorkspaceParts): Promise<Workspace> {
  const path = workspacePath(parts.root, visit.issue.identifier);
  if (await isDirectory(path)) return { path, created: false };
  await mkdir(path, { recursive: true }).catch((cause: unknown) => {
    throw new BatonError('workspace_unavailable', `The workspace ${path} could not be made.`, { cause });
  });
  if (parts.hooks.afterCreate !== null) {
    try {
      await runHook('after_create', parts.hooks.afterCreate, { path, visit }, parts);
    } catch (error) {
      // Half-made: no agent has been here, and the hook has to run again on an empty directory.
      await rm(path, { recursive: true, force: true });
      throw error;
    }
  }
  return { path, created: true };
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return false;
  if (found.isDirectory()) return true;
  // The specification replaces it; Baton throws nothing away unasked (law 8).
  throw new BatonError('workspace_unavailable', `${path} is in the place of a workspace and is no directory.`, {
    nextStep: 'Move that file away; Baton does not remove what it has not made.',
  });
}
