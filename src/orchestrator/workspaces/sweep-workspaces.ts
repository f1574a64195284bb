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

export interface SweepWish {
  /** Ids; null: every issue. */
  readonly issueIds: readonly string[] | null;
  /** Finished workspaces go although their time is not over. */
  readonly ignoresRetention: boolean;
}

export interface SweepReport {
  /** Workspaces that are there, of the issues that are meant. */
  readonly found: number;
  /** Those of finished issues whose time is over. */
  readonly due: number;
  readonly removed: number;
}

const caller = { job: 'workspace_sweep', cause: 'sweep' } as const;

/** So many other issues come first with each poll. */
const atATime = 10;

/** What a poll has shown of an issue with a workspace serves a sweep so long. */
const knownForMs = 3_600_000;

export const everything: SweepWish = { issueIds: null, ignoresRetention: false };

/** A workspace that may have to go, and the run by which its issue is known. */
type Candidate = FoundWorkspace & { readonly run: RunRecord };

interface Due extends Candidate {
  readonly issue: Issue;
}

/**
 * Removes every workspace of a finished issue whose time is over. Only issues that have a directory here and that nobody
 * has are asked for, all in one read. What goes wrong with one does not keep the others, and what should be gone and is
 * not is told each time.
 */
export class WorkspaceSweep {
  readonly #parts: SweepParts;
  /** Free issues with a workspace here, as the last sweep found them. */
  #withWorkspace: readonly string[] = [];

  constructor(parts: SweepParts) {
    this.#parts = parts;
  }

  /** What polls may ask for where there is room; with each call others come first. */
  withWorkspace(): readonly string[] {
    const ids = this.#withWorkspace;
    this.#withWorkspace = [...ids.slice(atATime), ...ids.slice(0, atATime)];
    return ids;
  }

  /** Never rejects. */
  async run(wish: SweepWish): Promise<SweepReport> {
    const { logger, stopping } = this.#parts;
    try {
      const candidates = await this.#findCandidates(wish);
      const due = await this.#readDue(candidates, wish);
      let removed = 0;
      for (const each of due) {
        if (stopping.aborted) break;
        if (await this.#removeOne(each, wish)) removed += 1;
      }
      const report = { found: candidates.length, due: due.length, removed };
      if (!stopping.aborted) this.#log(report, due);
      return report;
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (!stopping.aborted) logger.warn('workspaces_unreadable', { error });
      for (const issueId of wish.issueIds ?? []) await this.#noteStay(issueId, error.message);
      return { found: 0, due: 0, removed: 0 };
    }
  }

  /** The workspaces whose issue is known and meant. */
  async #findCandidates({ issueIds }: SweepWish): Promise<readonly Candidate[]> {
    const { settings } = this.#parts.source.read().workflow;
    const entries = await this.#parts.workspacesFor(settings).list(settings.workspace.root);
    const whole = entries.filter(({ state }) => state === 'whole');
    const wanted = issueIds === null ? null : new Set(issueIds);
    return (await findWorkspaces(this.#parts, whole)).flatMap((each) => {
      const { run } = each;
      return run === null || (wanted !== null && !wanted.has(run.issueId)) ? [] : [{ ...each, run }];
    });
  }

  async #readDue(candidates: readonly Candidate[], wish: SweepWish): Promise<readonly Due[]> {
    const { source, clock } = this.#parts;
    const { tracker, workspace } = source.read().workflow.settings;
    const rules = { tracker, workspace, now: clock.now(), ignoresRetention: wish.ignoresRetention };
    // What no state lets go yet need not be asked for; but a person who asked for it by name hears why it stays.
    const shortest = wish.issueIds === null ? shortestRetention(workspace) : 0;
    const asked = candidates.filter(
      (each) =>
        !each.isPinned && this.#claimOf(each) === null && (shortest === 0 || each.idleSince + shortest <= rules.now),
    );
    const ids = [...new Set(asked.map(({ run }) => run.issueId))];
    const issues = await this.#readIssues(ids, wish);
    const due: Due[] = [];
    for (const each of candidates) {
      const issue = issues.get(each.run.issueId);
      const stay = whyItStays({ ...each, issue, claim: this.#claimOf(each) }, rules);
      if (stay === null && issue != null) due.push({ ...each, issue });
      else if (stay !== null) await this.#answer(wish, each, stay.text);
    }
    return due;
  }

  /**
   * Where a poll is one request, the tracker is asked only for what no poll has shown within the hour: the polls ask for
   * these issues where there is room. Before a removal its issue is read once more. A person who asks for single ones
   * hears what is true now.
   */
  async #readIssues(ids: readonly string[], wish: SweepWish): Promise<ReadonlyMap<string, Issue | null>> {
    const { reads } = this.#parts;
    if (wish.issueIds !== null || trackerNow(this.#parts)?.fetchSnapshot === undefined) return reads.byIds(ids, caller);
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

  /** A person who asked for single workspaces hears of each one, also of those that were left alone. */
  async #answer({ issueIds }: SweepWish, { run }: Pick<Candidate, 'run'>, keptBecause: string | null): Promise<void> {
    if (issueIds !== null) await this.#parts.cleaner.noteRemoval(run.runId, { keptBecause, saved: [] });
  }

  /** As above, when not even the workspaces could be seen. */
  async #noteStay(issueId: string, keptBecause: string): Promise<void> {
    const { store, project, cleaner } = this.#parts;
    const last = await store.runs.latestOfIssue({ project, issueId }).catch(() => null);
    await cleaner.noteRemoval(last?.runId ?? null, { keptBecause, saved: [] });
  }

  #claimOf({ run, claim }: Candidate): string | null {
    return this.#parts.claims.whyClaimed(run.issueId)?.text ?? claim;
  }

  async #removeOne({ entry, run, issue }: Due, wish: SweepWish): Promise<boolean> {
    const { source, cleaner } = this.#parts;
    const { settings } = source.read().workflow;
    const result = await cleaner.clean({
      // By the name it was made for: the issue may have got another one.
      issue: { id: issue.id, identifier: run.identifier, title: issue.title },
      path: entry.path,
      runId: run.runId,
      attempt: run.attempt,
      settings,
      ignoresRetention: wish.ignoresRetention,
    });
    if (result.outcome === 'stays') await this.#answer(wish, { run }, result.stay.text);
    if (result.outcome === 'absent') await this.#answer(wish, { run }, null);
    return result.outcome === 'removed' || result.outcome === 'absent';
  }

  /** A sweep that achieves nothing is told as loudly as a failure: nobody would miss it otherwise until the disk is full. */
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
