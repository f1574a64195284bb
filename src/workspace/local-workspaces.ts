import { existsSync } from 'node:fs';
import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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

/**
 * Makes the directory, or takes the one that is there. While it is being made a mark lies beside it; a directory whose
 * mark is still there was left half-made by a crash, before any agent came, and is made again from the beginning.
 */
async function prepare(visit: WorkspaceVisit, parts: WorkspaceParts): Promise<Workspace> {
  const path = workspacePath(parts.root, visit.issue.identifier);
  const mark = creationMark(path);
  if (existsSync(mark)) await rm(path, { recursive: true, force: true });
  else if (await isDirectory(path)) return { path, created: false };
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(mark, '');
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
      await rm(path, { recursive: true, force: true });
      await rm(mark, { force: true });
      throw error;
    }
  }
  await rm(mark, { force: true });
  return { path, created: true };
}

/** Beside the workspace, under a name that no workspace can have: keys have no `+`. */
function creationMark(path: string): string {
  return join(dirname(path), `+making+${basename(path)}`);
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

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
