import { toBatonError } from '../../core/baton-error.ts';
import type { Issue } from '../../core/issue/issue.ts';
import { shortestRetention, whyItStays } from '../../core/run/workspace-stay.ts';
import type { Settings } from '../../core/settings.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { Tracker } from '../../tracker/tracker.ts';
import { trackerNow } from '../poll/pace.ts';
import type { CleanerParts, WorkspaceCleaner } from './clean-workspaces.ts';
import { type FoundWorkspace, findWorkspaces } from './find-workspaces.ts';

export interface SweepParts extends CleanerParts {
  readonly cleaner: WorkspaceCleaner;
  readonly trackerFor: (settings: Settings) => Tracker;
}

export interface SweepRequest {
  /** Ids; null: every issue. */
  readonly issueIds: readonly string[] | null;
  /** Removes workspaces of finished issues before their retention is over. */
  readonly ignoresRetention: boolean;
}

export interface SweepReport {
  /** Existing workspaces of the issues in the request. */
  readonly found: number;
  /** Those of finished issues whose retention is over. */
  readonly due: number;
  readonly removed: number;
}

const caller = { job: 'workspace_sweep', cause: 'sweep' } as const;

/** With each poll, this many other issues come first. */
const atATime = 10;

/** How long a sweep uses a poll's record of an issue with a workspace. */
const knownForMs = 3_600_000;

export const everything: SweepRequest = { issueIds: null, ignoresRetention: false };

/** A workspace that may have to be removed, and the run that names its issue. */
type Candidate = FoundWorkspace & { readonly run: RunRecord };

interface Due extends Candidate {
  readonly issue: Issue;
}

/**
 * Removes every workspace of a finished issue whose retention is over. It only reads issues that have a directory here
 * and no claim, all in one read. A failure with one does not stop the others, and each sweep reports workspaces that it
 * should have removed and could not.
 */
export class WorkspaceSweep {
  readonly #parts: SweepParts;
  /** Free issues with a workspace here, as the last sweep found them. */
  #withWorkspace: readonly string[] = [];

  constructor(parts: SweepParts) {
    this.#parts = parts;
  }

  /** Issues that polls may read if the request has space for them; each call puts other ones first. */
  withWorkspace(): readonly string[] {
    const ids = this.#withWorkspace;
    this.#withWorkspace = [...ids.slice(atATime), ...ids.slice(0, atATime)];
    return ids;
  }

  /** The workspaces that a sweep would remove now. Changes nothing. */
  async due(): Promise<readonly string[]> {
    const due = await this.#readDue(await this.#findCandidates(everything), everything);
    return due.map(({ entry }) => entry.path);
  }

  /** Never rejects. */
  async run(request: SweepRequest): Promise<SweepReport> {
    const { logger, stopping } = this.#parts;
    try {
      const candidates = await this.#findCandidates(request);
      const due = await this.#readDue(candidates, request);
      let removed = 0;
      for (const each of due) {
        if (stopping.aborted) break;
        if (await this.#removeOne(each, request)) removed += 1;
      }
      const report = { found: candidates.length, due: due.length, removed };
      if (!stopping.aborted) this.#log(report, due);
      return report;
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (!stopping.aborted) logger.warn('workspaces_unreadable', { error });
      for (const issueId of request.issueIds ?? []) await this.#noteStay(issueId, error.message);
      return { found: 0, due: 0, removed: 0 };
    }
  }

  /** The workspaces whose issue is known and in the request. */
  async #findCandidates({ issueIds }: SweepRequest): Promise<readonly Candidate[]> {
    const { settings } = this.#parts.source.read().workflow;
    const entries = await this.#parts.workspacesFor(settings).list(settings.workspace.root);
    const whole = entries.filter(({ state }) => state === 'whole');
    const wanted = issueIds === null ? null : new Set(issueIds);
    return (await findWorkspaces(this.#parts, whole)).flatMap((each) => {
      const { run } = each;
      return run === null || (wanted !== null && !wanted.has(run.issueId)) ? [] : [{ ...each, run }];
    });
  }

  async #readDue(candidates: readonly Candidate[], request: SweepRequest): Promise<readonly Due[]> {
    const { source, clock } = this.#parts;
    const { tracker, workspace } = source.read().workflow.settings;
    const rules = { tracker, workspace, now: clock.now(), ignoresRetention: request.ignoresRetention };
    // Issues whose workspace no state would release yet need no read. But a person who asked for one by name gets the
    // reason why it stays.
    const shortest = request.issueIds === null ? shortestRetention(workspace) : 0;
    const asked = candidates.filter(
      (each) =>
        !each.isPinned && this.#claimOf(each) === null && (shortest === 0 || each.idleSince + shortest <= rules.now),
    );
    const ids = [...new Set(asked.map(({ run }) => run.issueId))];
    const issues = await this.#readIssues(ids, request);
    const due: Due[] = [];
    for (const each of candidates) {
      const issue = issues.get(each.run.issueId);
      const stay = whyItStays({ ...each, issue, claim: this.#claimOf(each) }, rules);
      if (stay === null && issue != null) due.push({ ...each, issue });
      else if (stay !== null) await this.#answer(request, each, stay.text);
    }
    return due;
  }

  /**
   * If a poll is one request, the sweep only reads issues that no poll has shown within the hour: the polls add these
   * issues when the request has space. Before a removal its issue is read once more. A person who asks for single
   * workspaces gets the current state.
   */
  async #readIssues(ids: readonly string[], request: SweepRequest): Promise<ReadonlyMap<string, Issue | null>> {
    const { reads } = this.#parts;
    if (request.issueIds !== null || trackerNow(this.#parts)?.fetchSnapshot === undefined)
      return reads.byIds(ids, caller);
    this.#withWorkspace = ids;
    const known = new Map(
      ids.flatMap((id) => {
        const issue = reads.freshWithin(id, knownForMs);
        return issue === undefined ? [] : [[id, issue]];
      }),
    );
    const unknown = ids.filter((id) => !known.has(id));
    return new Map([...known, ...(await reads.byIds(unknown, caller))]);
  }

  /** A person who asked for single workspaces gets an answer for each, also for those that stay. */
  async #answer(
    { issueIds }: SweepRequest,
    { run }: Pick<Candidate, 'run'>,
    keptBecause: string | null,
  ): Promise<void> {
    if (issueIds !== null) await this.#parts.cleaner.noteRemoval(run.runId, { keptBecause, saved: [] });
  }

  /** As above, when the workspaces could not be listed. */
  async #noteStay(issueId: string, keptBecause: string): Promise<void> {
    const { store, project, cleaner } = this.#parts;
    const last = await store.runs.latestOfIssue({ project, issueId }).catch(() => null);
    await cleaner.noteRemoval(last?.runId ?? null, { keptBecause, saved: [] });
  }

  #claimOf({ run, claim }: Candidate): string | null {
    return this.#parts.claims.whyClaimed(run.issueId)?.text ?? claim;
  }

  async #removeOne({ entry, run, issue }: Due, request: SweepRequest): Promise<boolean> {
    const { source, cleaner } = this.#parts;
    const { settings } = source.read().workflow;
    const result = await cleaner.clean({
      // The identifier it was made for: the issue may have a new one.
      issue: { id: issue.id, identifier: run.identifier, title: issue.title },
      path: entry.path,
      runId: run.runId,
      attempt: run.attempt,
      settings,
      ignoresRetention: request.ignoresRetention,
    });
    if (result.outcome === 'stays') await this.#answer(request, { run }, result.stay.text);
    if (result.outcome === 'absent') await this.#answer(request, { run }, null);
    return result.outcome === 'removed' || result.outcome === 'absent';
  }

  /** A sweep that removes nothing is logged as a warning: otherwise it would go unnoticed until the disk is full. */
  #log(report: SweepReport, due: readonly Due[]): void {
    const { logger } = this.#parts;
    if (report.due === 0) return;
    if (report.removed > 0) {
      logger.info('workspaces_swept', { ...report });
      return;
    }
    const oldest = Math.min(...due.map(({ idleSince }) => idleSince));
    logger.warn('workspace_sweep_stuck', {
      ...report,
      oldest_since: new Date(oldest).toISOString(),
      workspaces: due.slice(0, mostNamed).map(({ entry }) => entry.path),
    });
  }
}

const mostNamed = 10;
