import { toBatonError } from '../../core/baton-error.ts';
import type { Issue } from '../../core/issue/issue.ts';
import { type Stay, whyItStays } from '../../core/run/workspace-stay.ts';
import type { Settings } from '../../core/settings.ts';
import type { RunRecord, WorkspaceRemoval } from '../../store/tables/runs.ts';
import type { Removal } from '../../workspace/workspace.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';

export interface CleanerParts
  extends Pick<
    BaseParts,
    'clock' | 'isShared' | 'logger' | 'owner' | 'project' | 'source' | 'stopping' | 'store' | 'workspacesFor'
  > {
  readonly claims: Claims;
  readonly reads: TrackerReads;
  /** A workspace was cleaned or not: its issue may start again. */
  readonly onCleaned: () => void;
}

export interface Cleanup {
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'title'>;
  /** The path stored when the workspace was made; the root may have changed since. */
  readonly path: string;
  readonly runId: string | null;
  readonly attempt: number | null;
  /** The settings of the run, for its hooks. */
  readonly settings: Settings;
  /** The latest change of the directory, when no run of it is known. */
  readonly changedAt?: number;
  /** A person wants the workspace removed at once. */
  readonly ignoresRetention?: boolean;
}

export type CleanupResult = Removal | { readonly outcome: 'stays'; readonly stay: Stay };

/**
 * Removes the workspaces of finished issues when their retention is over. No run of an issue starts meanwhile. A
 * workspace that cannot be removed is logged and stays: one too many does no harm, one too few does.
 */
export class WorkspaceCleaner {
  readonly #parts: CleanerParts;
  readonly #cleaning = new Set<string>();

  constructor(parts: CleanerParts) {
    this.#parts = parts;
  }

  get cleaning(): ReadonlySet<string> {
    return this.#cleaning;
  }

  /** Never rejects. */
  async clean(cleanup: Cleanup): Promise<CleanupResult> {
    const { claims, logger, store, project, stopping } = this.#parts;
    const { issue, path, attempt, settings } = cleanup;
    if (claims.has(issue.id)) return stays('claimed', 'its issue is claimed');
    if (this.#cleaning.has(issue.id)) return stays('claimed', 'it is being removed');
    this.#cleaning.add(issue.id);
    const named = { issue_id: issue.id, issue_identifier: issue.identifier, workspace: path };
    let result: CleanupResult;
    try {
      const workspaces = this.#parts.workspacesFor(settings);
      if (!(await workspaces.isThere(path))) return { outcome: 'absent' };
      const last = await store.runs.latestOfIssue({ project, issueId: issue.id });
      const stay = await this.#whyNotNow(cleanup, last);
      if (stay !== null) return { outcome: 'stays', stay };
      const runId = cleanup.runId ?? last?.runId ?? null;
      const visit = { issue, runId, attempt, signal: stopping };
      const removal = await workspaces.remove({ path, identifier: issue.identifier }, visit);
      this.#log(removal, named);
      await this.#note(runId, removal);
      result = removal;
    } catch (error) {
      logger.warn('workspace_removal_failed', { ...named, error });
      result = { outcome: 'kept', code: 'failed', reason: toBatonError(error).message };
      await this.#note(cleanup.runId, result);
    } finally {
      this.#cleaning.delete(issue.id);
    }
    this.#parts.onCleaned();
    return result;
  }

  /** As `clean`, at the path that the last run of the issue stored. */
  async cleanAfterLastRun(issue: Issue): Promise<void> {
    const { store, project, source, workspacesFor } = this.#parts;
    const last = await store.runs.latestOfIssue({ project, issueId: issue.id });
    const { settings } = source.read().workflow;
    if (last === null) return;
    // A run that was killed while its workspace was made has not stored the path.
    const path = last.workspace ?? pathOf(() => workspacesFor(settings).pathOf(last.identifier));
    if (path === null) return;
    await this.clean({ issue, path, runId: last.runId, attempt: last.attempt, settings });
  }

  /** Stores with a run what happened to its workspace. Never rejects. */
  async noteRemoval(runId: string | null, { keptBecause, saved }: Omit<WorkspaceRemoval, 'at'>): Promise<void> {
    const { store, clock, logger } = this.#parts;
    if (runId === null) return;
    try {
      await store.runs.noteRemoval(runId, { at: clock.now(), keptBecause, saved });
    } catch (error) {
      logger.warn('workspace_write_failed', { run_id: runId, error });
    }
  }

  /** Checked again right before the removal: the issue may be open again, claimed or pinned since it was read. */
  async #whyNotNow(cleanup: Cleanup, last: RunRecord | null): Promise<Stay | null> {
    const { store, project, reads, source, clock } = this.#parts;
    const { id } = cleanup.issue;
    const isPinned = (await store.pins.list(project)).some(({ issueId }) => issueId === id);
    const claim = last?.finish === null ? 'its run has not ended' : await this.#claimedElsewhere(id);
    const issue = (await reads.byIds([id], { job: 'workspace_sweep', cause: 'sweep' })).get(id) ?? null;
    const { tracker, workspace } = source.read().workflow.settings;
    const idleSince = last?.finish?.endedAt ?? cleanup.changedAt ?? clock.now();
    const ignoresRetention = cleanup.ignoresRetention ?? false;
    const rules = { tracker, workspace, now: clock.now(), ignoresRetention };
    return whyItStays({ claim, isPinned, issue, idleSince }, rules);
  }

  /** Another daemon may have its agent in the workspace, in its last turn. */
  async #claimedElsewhere(issueId: string): Promise<string | null> {
    const { store, project, owner, isShared } = this.#parts;
    if (!isShared) return null;
    const claim = await store.claims.read({ project, issueId });
    return claim === null || claim.owner === owner ? null : 'another daemon has its issue';
  }

  #log(removal: Removal, named: Record<string, unknown>): void {
    const { logger } = this.#parts;
    if (removal.outcome === 'kept')
      logger.info('workspace_kept', { ...named, code: removal.code, reason: removal.reason });
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

  /**
   * Stored with the last run, where a person finds it later. A failed write does not change what happened to the
   * workspace.
   */
  async #note(runId: string | null, removal: Removal): Promise<void> {
    if (removal.outcome === 'absent') return;
    const keptBecause = removal.outcome === 'kept' ? removal.reason : null;
    const saved = removal.outcome === 'removed' ? removal.saved : [];
    await this.noteRemoval(runId, { keptBecause, saved });
  }
}

function stays(code: Stay['code'], text: string): CleanupResult {
  return { outcome: 'stays', stay: { code, text } };
}

/** Null for an identifier that can have no workspace. */
export function pathOf(find: () => string): string | null {
  try {
    return find();
  } catch {
    return null;
  }
}
