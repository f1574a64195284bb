import { toBatonError } from '../core/baton-error.ts';
import type { Issue } from '../core/issue.ts';
import type { Settings } from '../core/settings.ts';
import { type Stay, whyItStays } from '../core/workspace-stay.ts';
import type { RunRecord, WorkspaceRemoval } from '../store/runs.ts';
import type { Removal } from '../workspace/workspace.ts';
import type { OrchestratorContext } from './context.ts';
import { isClaimed } from './scheduling-state.ts';

export interface Cleanup {
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title'>;
  /** As it was written down when it was made; the root may be another by now. */
  readonly path: string;
  readonly runId: string | null;
  readonly attempt: number | null;
  /** Those of the run, for its hooks. */
  readonly settings: Settings;
  /** The latest change of the directory, for one that no run is known of. */
  readonly changedAt?: number;
  /** A person wants it gone at once. */
  readonly ignoresRetention?: boolean;
}

/** What came of it. */
export type CleanupResult = Removal | { readonly outcome: 'stays'; readonly stay: Stay };

/**
 * Removes the workspace of an issue that is in a terminal state, when its time is over. No run of it starts meanwhile.
 * What cannot be removed is told and stays: a workspace too many is no harm, one too few is. Never rejects.
 */
export async function cleanWorkspace(context: OrchestratorContext, cleanup: Cleanup): Promise<CleanupResult> {
  const { state, logger, store, project, stopping } = context;
  const { issue, path, attempt, settings } = cleanup;
  if (isClaimed(state, issue.id)) return stays('claimed', 'its issue is claimed');
  if (state.cleaning.has(issue.id)) return stays('claimed', 'it is being removed');
  state.cleaning.add(issue.id);
  const named = { issue_id: issue.id, issue_identifier: issue.identifier, workspace: path };
  let result: CleanupResult;
  try {
    const workspaces = context.workspacesFor(settings);
    if (!(await workspaces.isThere(path))) return { outcome: 'absent' };
    const last = await store.runs.latestOfIssue({ project, issueId: issue.id });
    const stay = await whyNotNow(context, cleanup, last);
    if (stay !== null) return { outcome: 'stays', stay };
    const runId = cleanup.runId ?? last?.runId ?? null;
    const visit = { issue, runId, attempt, signal: stopping };
    const removal = await workspaces.remove({ path, identifier: issue.identifier }, visit);
    tell(context, removal, named);
    await note(context, runId, removal);
    result = removal;
  } catch (error) {
    logger.warn('workspace_removal_failed', { ...named, error });
    result = { outcome: 'kept', code: 'failed', reason: toBatonError(error).message };
    await note(context, cleanup.runId, result);
  } finally {
    state.cleaning.delete(issue.id);
  }
  context.fillSlots();
  return result;
}

/** Looked at again right before the removal: what was read some time ago may be open again, claimed or pinned. */
async function whyNotNow(context: OrchestratorContext, cleanup: Cleanup, last: RunRecord | null): Promise<Stay | null> {
  const { store, project, reads, source, clock } = context;
  const { id } = cleanup.issue;
  const isPinned = (await store.pins.list(project)).some(({ issueId }) => issueId === id);
  const claim = last?.finish === null ? 'its run has not ended' : await whoElse(context, id);
  const issue = (await reads.byIds([id], { job: 'workspace_sweep', cause: 'sweep' })).get(id) ?? null;
  const { tracker, workspace } = source.read().workflow.settings;
  const idleSince = last?.finish?.endedAt ?? cleanup.changedAt ?? clock.now();
  const ignoresRetention = cleanup.ignoresRetention ?? false;
  return whyItStays({ claim, isPinned, issue, idleSince }, { tracker, workspace, now: clock.now(), ignoresRetention });
}

/** Another daemon may have its agent in there, saying its last words. */
async function whoElse(
  { store, project, owner, isShared }: OrchestratorContext,
  issueId: string,
): Promise<string | null> {
  if (!isShared) return null;
  const claim = await store.claims.read({ project, issueId });
  return claim === null || claim.owner === owner ? null : 'another daemon has its issue';
}

function tell({ logger }: OrchestratorContext, removal: Removal, named: Record<string, unknown>): void {
  if (removal.outcome === 'kept') {
    logger.info('workspace_kept', { ...named, code: removal.code, reason: removal.reason });
  }
  if (removal.outcome !== 'removed') return;
  const { saved } = removal;
  if (saved.length === 0) logger.info('workspace_removed', named);
  else
    logger.info('workspace_removed_and_saved', {
      ...named,
      saved: saved.map(({ name }) => name),
      restore: saved.map(({ restore }) => restore),
    });
}

/** Where a person finds it later: with the last run. It is gone or kept whether that can be written or not. */
async function note(context: OrchestratorContext, runId: string | null, removal: Removal): Promise<void> {
  if (removal.outcome === 'absent') return;
  const keptBecause = removal.outcome === 'kept' ? removal.reason : null;
  const saved = removal.outcome === 'removed' ? removal.saved : [];
  await noteRemoval(context, runId, { keptBecause, saved });
}

/** Notes with a run what became of its workspace. Never rejects. */
export async function noteRemoval(
  { store, clock, logger }: OrchestratorContext,
  runId: string | null,
  { keptBecause, saved }: Omit<WorkspaceRemoval, 'at'>,
): Promise<void> {
  if (runId === null) return;
  try {
    await store.runs.noteRemoval(runId, { at: clock.now(), keptBecause, saved });
  } catch (error) {
    logger.warn('workspace_write_failed', { run_id: runId, error });
  }
}

function stays(code: Stay['code'], text: string): CleanupResult {
  return { outcome: 'stays', stay: { code, text } };
}

/** As `cleanWorkspace`, at the place that the last run of the issue wrote down. */
export async function cleanAfterLastRun(context: OrchestratorContext, issue: Issue): Promise<void> {
  const { store, project, source } = context;
  const last = await store.runs.latestOfIssue({ project, issueId: issue.id });
  const { settings } = source.read().workflow;
  if (last === null) return;
  // A run that was killed while its workspace was made has not written it down.
  const path = last.workspace ?? pathOf(() => context.workspacesFor(settings).pathOf(last.identifier));
  if (path === null) return;
  await cleanWorkspace(context, { issue, path, runId: last.runId, attempt: last.attempt, settings });
}

/** Null for an identifier that can have no workspace. */
export function pathOf(find: () => string): string | null {
  try {
    return find();
  } catch {
    return null;
  }
}
