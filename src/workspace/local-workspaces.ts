import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { HookSettings } from '../core/settings.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import { hasCode } from './error-reason.ts';
import { fingerprintTree } from './fingerprint-tree.ts';
import { runHook, runHookAnyway } from './hooks.ts';
import { finishRemovals, removeWorkspace } from './remove-workspace.ts';
import type { Workspace, Workspaces, WorkspaceVisit } from './workspace.ts';
import { creationMark } from './workspace-marks.ts';
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

/** Workspaces as directories of this machine. */
export function createLocalWorkspaces(parts: WorkspaceParts): Workspaces {
  return {
    prepare: (visit) => prepare(visit, parts),
    beforeRun: async (workspace, visit) => {
      if (parts.hooks.beforeRun === null) return;
      await runHook('before_run', parts.hooks.beforeRun, { path: workspace.path, visit }, parts);
    },
    afterRun: async (workspace, visit) => {
      if (parts.hooks.afterRun === null) return;
      await runHookAnyway('after_run', parts.hooks.afterRun, { path: workspace.path, visit }, parts);
    },
    pathOf: (identifier) => workspacePath(parts.root, identifier),
    isThere: async (path) =>
      (await lstat(path).catch((error: unknown) => (hasCode(error, 'ENOENT') ? null : true))) !== null,
    remove: (place, visit) => removeWorkspace(place, visit, parts),
    finishRemovals: (root) => finishRemovals(root, parts),
    fingerprint: (path) => fingerprintTree(path),
  };
}

/**
 * Makes the directory, or takes the one that is there. While it is being made a mark lies beside it, with the run that
 * makes it; a directory whose mark is still there was left half-made by a crash, before any agent came, and is made again
 * from the beginning. Who finds that the mark is another's was taken over while it was frozen: what is there is not its
 * own any more, and an agent may be at work in it.
 */
async function prepare(visit: WorkspaceVisit, parts: WorkspaceParts): Promise<Workspace> {
  const path = workspacePath(parts.root, visit.issue.identifier);
  const mark = creationMark(path);
  if (existsSync(mark)) {
    await writeFile(mark, visit.runId);
    await rm(path, { recursive: true, force: true });
  } else if (await isDirectory(path)) return { path, created: false };
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(mark, visit.runId);
    // Not recursive: a directory that is there after all is somebody's, and must not be taken for one just made.
    await mkdir(path);
  } catch (cause) {
    await rm(mark, { force: true });
    if (hasCode(cause, 'EEXIST') && (await isDirectory(path))) return { path, created: false };
    throw new BatonError('workspace_unavailable', `The workspace ${path} could not be made.`, { cause });
  }
  if (parts.hooks.afterCreate !== null) {
    try {
      await runHook('after_create', parts.hooks.afterCreate, { path, visit }, parts);
    } catch (error) {
      // The hook has to run again on an empty directory. The mark stays until that directory is gone.
      if (await isMarkedBy(visit, mark)) {
        await rm(path, { recursive: true, force: true });
        await rm(mark, { force: true });
      }
      throw error;
    }
  }
  if (await isMarkedBy(visit, mark)) await rm(mark, { force: true });
  return { path, created: true };
}

async function isMarkedBy({ runId }: WorkspaceVisit, mark: string): Promise<boolean> {
  return (await readFile(mark, 'utf8').catch(() => null)) === runId;
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await lstat(path).catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT')) return null;
    // An error is never read as "gone": what cannot be seen may hold work.
    throw new BatonError('workspace_unavailable', `The workspace ${path} could not be looked at.`, { cause });
  });
  if (found === null) return false;
  if (found.isDirectory()) return true;
  // The specification replaces it; Baton throws nothing away unasked (law 8).
  throw new BatonError('workspace_unavailable', `${path} is in the place of a workspace and is no directory.`, {
    nextStep: 'Move that file away; Baton does not remove what it has not made.',
  });
}
