import { sleep } from '../../clock/clock.ts';
import type { BatonError } from '../../core/baton-error.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { decideAboutReleased } from '../../core/run/released-issue.ts';
import type { Settings } from '../../core/settings.ts';
import type { FinishedIssue } from '../../store/tables/finished-issues.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { ReadSnapshot } from './tracker-reads.ts';

export interface FinishedIssuesParts
  extends Pick<
    BaseParts,
    'clock' | 'logger' | 'notify' | 'own' | 'project' | 'source' | 'stopping' | 'store' | 'trackerFor'
  > {
  readonly claims: Claims;
}

/** An issue that Baton released and that has not finished. */
interface FollowedIssue {
  readonly issue: Issue;
  /** When the tracker was asked for this record, wall time. */
  readonly openAt: number;
  /** The same on the monotonic clock. */
  readonly seenAt: number;
  /**
   * Whether the store has a run of it; null: not known yet. Issues without a run are kept only to avoid asking twice.
   */
  readonly hasRun: boolean | null;
  /** Since when polls should list it and do not, on the monotonic clock; null while it is where it was. */
  readonly missingSince: number | null;
}

export interface CompletedIssue {
  /** With title and address if known: the tracker may not show the issue any more. */
  readonly issue: IssueName & { readonly title?: string };
  readonly state: string;
  readonly at: number;
}

/** Issues that a poll asks for in addition. */
interface IssuesToPoll {
  /** Issues that the poll must read. */
  readonly watched: readonly string[];
  /** Issues that have left the list; read only if the request has space for them. */
  readonly left: readonly string[];
  /** Issues that are still where they were; read only if the request has space for them. */
  readonly waiting: readonly string[];
}

export interface AskedAt {
  readonly wall: number;
  readonly monotonic: number;
}

/** At most this many unmoved issues are read with a poll, the latest changed first. */
const mostRiding = 50;
/** At most this many issues are followed in states that no poll lists; the oldest are forgotten. */
const mostResting = 50;
/** An issue that has left the list, and that no poll had space for during this time, is read anyway. */
const patienceMs = 10 * 60_000;
/** At most this many of them are read in one poll. */
const atATime = 10;
/** How many finished issues are remembered for people. */
const mostCompleted = 1_000;
/** Issues that finished longer ago are not read at the start. */
const newsMs = 24 * 3_600_000;
/** First and longest delay before a finished issue that could not be written is written again. */
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

/**
 * Follows issues after Baton has released them: they wait for a review, and finish. This is only for people: no
 * decision depends on it, it costs no extra request, and its size is bounded.
 */
export class FinishedIssues {
  readonly #parts: FinishedIssuesParts;
  readonly #followed = new Map<string, FollowedIssue>();
  /** The latest last. */
  readonly #completed = new Map<string, CompletedIssue>();

  constructor(parts: FinishedIssuesParts) {
    this.#parts = parts;
  }

  get completed(): ReadonlyMap<string, CompletedIssue> {
    return this.#completed;
  }

  /** An issue is released: Baton shows what happens to it until it finishes or has to be worked on again. */
  follow(issue: Issue): void {
    const { source, clock } = this.#parts;
    const { tracker } = source.read().workflow.settings;
    this.#followed.delete(issue.id);
    // An issue outside the waiting states has finished, or has to be worked on again: it is not followed.
    if (decideAboutReleased(issue, tracker) !== 'waiting') return;
    const seenNow = seen({ wall: clock.now(), monotonic: clock.monotonic() });
    this.#followed.set(issue.id, { issue, ...seenNow, hasRun: true, missingSince: null });
  }

  /** An issue has finished. `openAt` is when it was last known to be open; null when it was ours until now. */
  finished({ id, identifier, title, url, state }: Issue, openAt: number | null = null): void {
    this.#followed.delete(id);
    const name = { id, identifier, url, ...(title.trim() === '' ? {} : { title }) };
    this.#parts.own('issue', this.#record({ issue: name, state, at: this.#parts.clock.now() }, openAt));
  }

  /** Reads the issues that finished lately. Those that are only in memory stay. */
  async read(): Promise<void> {
    const { store, project, clock } = this.#parts;
    const rows = await store.finishedIssues.latest(project, { from: clock.now() - newsMs, limit: mostCompleted });
    const all = [...rows.map(fromRow), ...this.#completed.values()].toSorted((left, right) => left.at - right.at);
    this.#completed.clear();
    for (const each of all) this.#keep(each);
  }

  /**
   * What a poll asks for to see that issues finished, without extra requests. The poll itself lists issues in review,
   * so only those that left the list must be read by id. If a poll is one request, these and the others share it, if it
   * has space. If it is two requests, the second one is made once for the issues that left. A local tracker is asked
   * for all.
   */
  issuesToPoll(settings: Settings): IssuesToPoll {
    const { clock, trackerFor } = this.#parts;
    const ours = [...this.#followed.values()].filter(({ hasRun }) => hasRun !== false);
    if (ours.length === 0) return { watched: [], left: [], waiting: [] };
    const { isLocal, fetchSnapshot } = trackerFor(settings);
    if (isLocal === true) return { watched: idsOf(ours), left: [], waiting: [] };
    const left = ours.filter(({ missingSince }) => missingSince !== null);
    const waiting = ours.filter(({ missingSince }) => missingSince === null);
    if (fetchSnapshot === undefined) {
      const listed = waiting.filter(({ issue }) => isInOneOf(settings.tracker.reviewStates)(issue));
      return { watched: idsOf([...left, ...listed]), left: [], waiting: [] };
    }
    const longAgo = clock.monotonic() - patienceMs;
    const latest = waiting.toSorted((one, other) => (other.issue.updatedAt ?? 0) - (one.issue.updatedAt ?? 0));
    return {
      watched: idsOf(left.filter(({ missingSince }) => (missingSince ?? longAgo) <= longAgo).slice(0, atATime)),
      left: idsOf(left),
      waiting: idsOf(latest.slice(0, mostRiding)),
    };
  }

  /** A poll was answered: follows the issues in review, and notes those that have finished. */
  async takeIn(settings: Settings, snapshot: ReadSnapshot, askedAt: AskedAt): Promise<void> {
    const isListed = isInOneOf(settings.tracker.reviewStates);
    this.#followListed(settings, snapshot.issues.filter(isListed), askedAt);
    await this.#askForRuns();

    const listed = new Map(snapshot.issues.map((issue) => [issue.id, issue]));
    for (const [id, entry] of [...this.#followed]) {
      // Released while the tracker was asked: the answer is older.
      if (entry.seenAt > askedAt.monotonic) continue;
      const fresh = snapshot.watched.has(id) ? snapshot.watched.get(id) : listed.get(id);
      const isUnusable = isUnreadable(snapshot.watchedProblem, id);
      const next = isUnusable ? null : this.#followOn(settings, entry, fresh, askedAt);
      if (next === null) this.#followed.delete(id);
      else this.#followed.set(id, next);
    }
    const resting = [...this.#followed.values()].filter(({ issue }) => !isListed(issue));
    for (const { issue } of resting.slice(0, -mostResting)) this.#followed.delete(issue.id);
  }

  #followListed({ tracker }: Settings, inReview: readonly Issue[], askedAt: AskedAt): void {
    for (const issue of inReview) {
      // A claimed issue is followed when it is released.
      if (this.#followed.has(issue.id) || this.#parts.claims.has(issue.id)) continue;
      if (decideAboutReleased(issue, tracker) !== 'waiting') continue;
      this.#followed.set(issue.id, { issue, ...seen(askedAt), hasRun: null, missingSince: null });
    }
  }

  /**
   * Asks the store whether Baton worked on the issues for which that is unknown: once for each, unless the store fails.
   */
  async #askForRuns(): Promise<void> {
    const { store, project, logger } = this.#parts;
    const unknown = [...this.#followed.values()].filter(({ hasRun }) => hasRun === null).map(({ issue }) => issue.id);
    if (unknown.length === 0) return;
    try {
      const starts = await store.runs.latestStarts(project, unknown);
      for (const id of unknown) {
        const entry = this.#followed.get(id);
        if (entry?.hasRun === null) this.#followed.set(id, { ...entry, hasRun: starts.has(id) });
      }
    } catch (error) {
      logger.warn('review_runs_unreadable', { error });
    }
  }

  /** `fresh` is undefined when the answer does not have the issue. Returns null when it is not followed any more. */
  #followOn(
    settings: Settings,
    entry: FollowedIssue,
    fresh: Issue | null | undefined,
    askedAt: AskedAt,
  ): FollowedIssue | null {
    const { hasRun } = entry;
    if (fresh === undefined) {
      if (hasRun === false) return null;
      return isInOneOf(settings.tracker.reviewStates)(entry.issue) ? missing(entry, askedAt) : entry;
    }
    const fate = decideAboutReleased(fresh, settings.tracker);
    if (fresh === null || fate === 'forgotten') return null;
    if (fate === 'waiting') return { ...entry, ...seen(askedAt), issue: fresh, missingSince: null };
    // The store may answer at the next poll whether Baton worked on it.
    if (hasRun === null) return missing(entry, askedAt);
    if (hasRun) this.finished(fresh, entry.openAt);
    return null;
  }

  /**
   * Writes that an issue has finished and then remembers it. If several daemons share the store, the time of the first
   * one that saw it counts. If the store fails, the issue is remembered as seen here and written as soon as possible;
   * only a stopping daemon gives up. Never rejects.
   */
  async #record(finished: CompletedIssue, openAt: number | null): Promise<void> {
    const { clock, logger, stopping } = this.#parts;
    let isRemembered = false;
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      const isLast = stopping.aborted;
      try {
        const written = await this.#write(finished, openAt);
        // People may have seen the remembered time, so it stays.
        if (!isRemembered) this.#remember(written);
        return;
      } catch (error) {
        const { id: issue_id, identifier: issue_identifier } = finished.issue;
        logger.warn('finish_write_failed', { issue_id, issue_identifier, error });
      }
      if (!isRemembered) this.#remember(finished);
      isRemembered = true;
      if (isLast) return;
      await sleep(clock, waitMs, stopping).catch(() => {
        // The daemon stops: one last try, then it gives up.
      });
    }
  }

  async #write({ issue, state, at }: CompletedIssue, openAt: number | null): Promise<CompletedIssue> {
    const { store, project } = this.#parts;
    const { id: issueId, identifier, title = null, url = null } = issue;
    // If nothing better is known, the issue was open when its last run started.
    const since = openAt ?? (await store.runs.latestStarts(project, [issueId])).get(issueId) ?? at;
    return fromRow(await store.finishedIssues.note({ project, issueId, identifier, title, url, state, at }, since));
  }

  #remember(finished: CompletedIssue): void {
    this.#keep(finished);
    this.#parts.notify();
  }

  #keep(finished: CompletedIssue): void {
    this.#completed.delete(finished.issue.id);
    this.#completed.set(finished.issue.id, finished);
    const oldest = this.#completed.keys().next().value;
    if (this.#completed.size > mostCompleted && oldest !== undefined) this.#completed.delete(oldest);
  }
}

function fromRow({ issueId: id, identifier, title, url, state, at }: FinishedIssue): CompletedIssue {
  return { issue: { id, identifier, url, ...(title === null ? {} : { title }) }, state, at };
}

/** The poll should have listed it and did not: it has left the list, and is read by id from now on. */
function missing(entry: FollowedIssue, { monotonic }: AskedAt): FollowedIssue {
  return { ...entry, missingSince: entry.missingSince ?? monotonic };
}

function seen({ wall, monotonic }: AskedAt): Pick<FollowedIssue, 'openAt' | 'seenAt'> {
  return { openAt: wall, seenAt: monotonic };
}

/** A malformed record would spoil every poll that asks for it. */
function isUnreadable(problem: BatonError | null, id: string): boolean {
  const ids = problem?.details.ids;
  return Array.isArray(ids) && ids.includes(id);
}

function idsOf(entries: readonly FollowedIssue[]): readonly string[] {
  return entries.map(({ issue }) => issue.id);
}
