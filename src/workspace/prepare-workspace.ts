import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import { unsafeFolderReasons } from '../core/safe-folder.ts';
import { checkForeignWorkspace } from './check-foreign-workspace.ts';
import { deleteTree } from './delete-tree.ts';
import { hasCode } from './file-system.ts';
import type { Checkout } from './git/checkout/checkout.ts';
import { runHook } from './hooks.ts';
import { finishLeftovers } from './removal/finish-removals.ts';
import { refuseUnsafeRoot, whyWorkspaceUnsafe } from './safe-root.ts';
import type { Workspace, WorkspaceVisit } from './workspace.ts';
import { creationMarker } from './workspace-markers.ts';
import type { WorkspaceParts } from './workspace-parts.ts';
import { workspacePath } from './workspace-path.ts';
import { rememberRoot } from './workspace-root.ts';

/**
 * Creates the directory, or uses the existing one. While a run creates it, a marker file next to it names that run. A
 * directory that still has its marker was left half-made by a crash, before any agent worked there, and is made again
 * from the beginning. A run that finds the marker of another run lost its claim while it was frozen: the directory is
 * no longer its own, and an agent may be working in it.
 */
export async function prepareWorkspace(visit: WorkspaceVisit, parts: WorkspaceParts): Promise<Workspace> {
  const path = workspacePath(parts.settings.root, visit.issue.identifier);
  refuseUnsafeRoot(dirname(path));
  const created = await parts.resources.oneAtATime(path, () => makeDirectory(path, visit, parts));
  if (created) await fill(path, visit, parts);
  const checkout = await findReadable(path, parts);
  if (checkout !== null) await rememberRoot(parts.resources.places, path);
  if (!created) await (checkout === null ? checkForeignWorkspace(path, parts) : unlock(path, visit, parts));
  // Where it is not inside the workspace.
  return { path, created, gitDir: checkout?.strategy === 'worktree' ? checkout.gitDir : null };
}

/** Whether the directory was made; false for an existing one. */
async function makeDirectory(path: string, visit: WorkspaceVisit, parts: WorkspaceParts): Promise<boolean> {
  const mark = creationMarker(path);
  if (existsSync(mark)) {
    await writeFile(mark, visit.runId);
    await deleteTree(path);
  } else if (await isDirectory(path)) return false;
  await finishEarlierRemoval(path, parts);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // Again: another user may have made it first.
    refuseUnsafeRoot(dirname(path));
    await writeFile(mark, visit.runId);
    // Not recursive, so that it fails if the directory exists after all: then another program has made it.
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (cause) {
    await rm(mark, { force: true });
    if (hasCode(cause, 'EEXIST') && (await isDirectory(path))) return false;
    if (cause instanceof BatonError) throw cause;
    throw new BatonError('workspace_unavailable', `Failed to create the workspace ${path}.`, { cause });
  }
}

/**
 * Files that Baton keeps outside of the workspace belong to one workspace of this name at a time, so an earlier removal
 * must finish before the next one is made.
 */
async function finishEarlierRemoval(path: string, parts: WorkspaceParts): Promise<void> {
  const removal = await finishLeftovers(dirname(path), basename(path), parts);
  if (removal.outcome !== 'kept') return;
  throw new BatonError(
    'workspace_unavailable',
    `Failed to finish the removal of an earlier workspace at ${path}: ${removal.reason}.`,
    {
      nextStep: 'Free disk space, or move that directory away. Baton then retries the run.',
    },
  );
}

/**
 * Turns a directory into the workspace of an issue. If a step fails, the directory is removed again.
 */
async function fill(path: string, visit: WorkspaceVisit, parts: WorkspaceParts): Promise<void> {
  const mark = creationMarker(path);
  const { checkouts, settings, hooks } = parts;
  const { branch, signal } = visit;
  // No agent has worked here: commits of a failed setup must not be continued as work.
  let isNew = false;
  try {
    if (settings.strategy !== 'none') {
      const earlier = await findReadable(path, parts);
      await checkouts.make({ workspace: path, branch, ...(signal === undefined ? {} : { signal }) });
      isNew = earlier === null;
    }
    if (settings.setup !== null) await runHook('workspace.setup', settings.setup, { path, visit }, parts);
    if (hooks.afterCreate !== null) await runHook('after_create', hooks.afterCreate, { path, visit }, parts);
  } catch (error) {
    // The hook must run again on an empty directory. The marker stays until the directory is gone.
    if (await isMarkedBy(visit, mark)) {
      await deleteTree(path);
      if (isNew) await checkouts.forget(path);
      await rm(mark, { force: true });
    }
    throw error;
  }
  if (await isMarkedBy(visit, mark)) await rm(mark, { force: true });
}

/** A run that was killed in the middle of a commit leaves git locked; no process works there now. */
async function unlock(path: string, { issue, runId }: WorkspaceVisit, parts: WorkspaceParts): Promise<void> {
  const removed = await parts.checkouts.unlock(path);
  if (removed.length === 0) return;
  const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId };
  parts.logger.info('git_locks_removed', { ...named, files: removed });
}

/** The checkout of the workspace; an unreadable record counts as none, and does not stop an agent from working. */
async function findReadable(path: string, { checkouts, logger }: WorkspaceParts): Promise<Checkout | null> {
  try {
    return await checkouts.find(path);
  } catch (error) {
    if (!(error instanceof BatonError) || error.code !== 'workspace_unavailable') throw error;
    logger.warn('workspace_record_unreadable', { workspace: path, error });
    return null;
  }
}

async function isMarkedBy({ runId }: WorkspaceVisit, mark: string): Promise<boolean> {
  return (await readFile(mark, 'utf8').catch(() => null)) === runId;
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await lstat(path).catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT')) return null;
    // An error never counts as "gone": an unreadable directory may hold work.
    throw new BatonError('workspace_unavailable', `Failed to read the workspace ${path}.`, { cause });
  });
  if (found === null) return false;
  const problem = found.isDirectory() ? whyWorkspaceUnsafe(path) : null;
  if (problem !== null)
    throw new BatonError(
      'workspace_unavailable',
      `Cannot use the workspace ${path}: ${unsafeFolderReasons[problem]}.`,
      {
        details: { problem, path },
        nextStep:
          'Move that directory away. If you trust its files, make it yours instead, with `chown` and `chmod 700`.',
      },
    );
  if (found.isDirectory()) return true;
  // The specification replaces it; Baton deletes nothing without being asked (law 8).
  throw new BatonError('workspace_unavailable', `${path} must be a workspace, but it is not a directory.`, {
    details: { problem: 'not_a_directory', path },
    nextStep: 'Move that file away. Baton does not remove files that it did not create.',
  });
}
