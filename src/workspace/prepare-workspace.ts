import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import { deleteTree } from './delete-tree.ts';
import { hasCode } from './file-system.ts';
import type { Checkout } from './git/checkout/checkout.ts';
import { runHook } from './hooks.ts';
import { refuseOneOfAnother } from './refuse-one-of-another.ts';
import { finishLeftovers } from './removal/finish-removals.ts';
import { refuseUnsafeRoot } from './safe-root.ts';
import type { Workspace, WorkspaceVisit } from './workspace.ts';
import { creationMark } from './workspace-marks.ts';
import type { WorkspaceParts } from './workspace-parts.ts';
import { workspacePath } from './workspace-path.ts';
import { rememberRoot } from './workspace-root.ts';

/**
 * Makes the directory, or uses the existing one. While it is being made, a mark next to it names the run that makes it.
 * A directory whose mark is still there was left half-made by a crash, before any agent came, and is made again from
 * the beginning. A run that finds another run's mark lost its claim while it was frozen: the directory is not its own
 * any more, and an agent may be at work in it.
 */
export async function prepareWorkspace(visit: WorkspaceVisit, parts: WorkspaceParts): Promise<Workspace> {
  const path = workspacePath(parts.settings.root, visit.issue.identifier);
  refuseUnsafeRoot(dirname(path));
  const created = await parts.ground.oneAtATime(path, () => makeDirectory(path, visit, parts));
  if (created) await fill(path, visit, parts);
  const checkout = await findReadable(path, parts);
  if (checkout !== null) await rememberRoot(parts.ground.places, path);
  if (!created) await (checkout === null ? refuseOneOfAnother(path, parts) : unlock(path, visit, parts));
  // Where it is not inside the workspace.
  return { path, created, gitDir: checkout?.strategy === 'worktree' ? checkout.gitDir : null };
}

/** Whether the directory was made; false for an existing one. */
async function makeDirectory(path: string, visit: WorkspaceVisit, parts: WorkspaceParts): Promise<boolean> {
  const mark = creationMark(path);
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
    // Not recursive: a directory that exists after all is foreign, and must not be taken for one just made.
    await mkdir(path, { mode: 0o700 });
    return true;
  } catch (cause) {
    await rm(mark, { force: true });
    if (hasCode(cause, 'EEXIST') && (await isDirectory(path))) return false;
    if (cause instanceof BatonError) throw cause;
    throw new BatonError('workspace_unavailable', `The workspace ${path} could not be made.`, { cause });
  }
}

/**
 * The files of a workspace outside its directory exist once; an earlier removal has to finish before the next is made.
 */
async function finishEarlierRemoval(path: string, parts: WorkspaceParts): Promise<void> {
  const removal = await finishLeftovers(dirname(path), basename(path), parts);
  if (removal.outcome !== 'kept') return;
  throw new BatonError('workspace_unavailable', `An earlier workspace ${path} is not removed yet: ${removal.reason}.`, {
    nextStep: 'Free disk space, or move that directory away; the run is tried again.',
  });
}

/**
 * Everything that makes a directory the workspace of an issue. When a part of it fails, the directory is removed again.
 */
async function fill(path: string, visit: WorkspaceVisit, parts: WorkspaceParts): Promise<void> {
  const mark = creationMark(path);
  const { checkouts, settings, hooks } = parts;
  const { branch, signal } = visit;
  // No agent has worked here: commits of a failed setup must not be taken for work and continued.
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
    // The hook has to run again on an empty directory. The mark stays until that directory is gone.
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
    throw new BatonError('workspace_unavailable', `The workspace ${path} could not be looked at.`, { cause });
  });
  if (found === null) return false;
  if (found.isDirectory()) return true;
  // The specification replaces it; Baton throws nothing away unasked (law 8).
  throw new BatonError('workspace_unavailable', `${path} is in the place of a workspace and is no directory.`, {
    details: { problem: 'not_a_directory', path },
    nextStep: 'Move that file away; Baton does not remove what it has not made.',
  });
}
