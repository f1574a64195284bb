import { sleep } from '../../clock/clock.ts';
import type { BatonError } from '../../core/baton-error.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { decideAboutLanding } from '../../core/run/landing-decision.ts';
import type { Settings } from '../../core/settings.ts';
import type { LandedIssue } from '../../store/tables/landed.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { ReadSnapshot } from './tracker-reads.ts';

export interface LandingsParts
  extends Pick<
    BaseParts,
    'clock' | 'logger' | 'notify' | 'own' | 'project' | 'source' | 'stopping' | 'store' | 'trackerFor'
  > {
  readonly claims: Claims;
}

/** An issue that Baton gave back and that is not over. */
interface FollowedIssue {
  readonly issue: Issue;
  /** When the tracker was asked for that, wall time. */
  readonly openAt: number;
  /** The same on the monotonic clock. */
  readonly seenAt: number;
  /** Whether a run of it is known; null: not known yet. Those without are only remembered, so that nobody asks twice. */
  readonly hasRun: boolean | null;
  /** Since when it is not among what polls list and should be, on the monotonic clock; null while it is where it was. */
  readonly missingSince: number | null;
}

export interface CompletedIssue {
  /** With its title and address, where they are known: the tracker may not show it any more. */
  readonly issue: IssueName & { readonly title?: string };
  readonly state: string;
  readonly at: number;
}

/** What a poll asks for in addition. */
interface LandingsWish {
  /** What must be answered for. */
  readonly watched: readonly string[];
  /** What has left the list, and is asked for where there is room. */
  readonly left: readonly string[];
  /** The same of what is still where it was. */
  readonly waiting: readonly string[];
}

export interface AskedAt {
  readonly wall: number;
  readonly monotonic: number;
}

/** So many that are still where they were are asked for with a poll, the latest changed first. */
const mostRiding = 50;
/** So many are followed in states that no poll lists; the oldest are forgotten. */
const mostResting = 50;
/** One that has left what a poll lists, and found no room in any for so long, is asked for all the same. */
const patienceMs = 10 * 60_000;
/** So many of these are asked for in one poll. */
const atATime = 10;
/** How many finished issues are remembered for people. */
const mostCompleted = 1_000;
/** What landed longer ago is not read at the start. */
const newsMs = 24 * 3_600_000;
/** How long a landing that could not be written waits before it is tried again, at first and at most. */
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

/**
 * What becomes of issues after Baton has given them back: they wait for a review, and land when they are over. Only for
 * people: nothing is decided by it, it costs no request of its own, and it is bounded.
 */
export class Landings {
  readonly #parts: LandingsParts;
  readonly #followed = new Map<string, FollowedIssue>();
  /** The latest last. */
  readonly #completed = new Map<string, CompletedIssue>();

  constructor(parts: LandingsParts) {
    this.#parts = parts;
  }

  get completed(): ReadonlyMap<string, CompletedIssue> {
    return this.#completed;
  }

  /** An issue is given back: until it is over, or to be done again, people are told what becomes of it. */
  follow(issue: Issue): void {
    const { source, clock } = this.#parts;
    const { tracker } = source.read().workflow.settings;
    this.#followed.delete(issue.id);
    // What is in no state to wait in is not followed: it is over, or to be done again.
    if (decideAboutLanding(issue, tracker) !== 'waiting') return;
    const seenNow = seen({ wall: clock.now(), monotonic: clock.monotonic() });
    this.#followed.set(issue.id, { issue, ...seenNow, hasRun: true, missingSince: null });
  }

  /** An issue is over. `openAt` is when it was last known not to be; null where it was ours until now. */
  landed({ id, identifier, title, url, state }: Issue, openAt: number | null = null): void {
    this.#followed.delete(id);
    const name = { id, identifier, url, ...(title.trim() === '' ? {} : { title }) };
    this.#parts.own('landing', this.#record({ issue: name, state, at: this.#parts.clock.now() }, openAt));
  }

  /** Reads what landed lately; what is remembered and not written stays. */
  async read(): Promise<void> {
    const { store, project, clock } = this.#parts;
    const rows = await store.landed.latest(project, { from: clock.now() - newsMs, limit: mostCompleted });
    const all = [...rows.map(fromRow), ...this.#completed.values()].toSorted((left, right) => left.at - right.at);
    this.#completed.clear();
    for (const each of all) this.#keep(each);
  }

  /**
   * What a poll asks for so that a landing shows: no request more. What is in review is listed by the poll itself, so only
   * what has left the list has to be asked for, by id. Where a poll is one request, these and the others share it, if there
   * is room; where it is two, the second one is made for what left, once. A tracker on this machine is asked for all.
   */
  wish(settings: Settings): LandingsWish {
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

  /** A poll was answered: what is in review is followed, what has landed is noted. */
  async takeIn(settings: Settings, snapshot: ReadSnapshot, askedAt: AskedAt): Promise<void> {
    const isListed = isInOneOf(settings.tracker.reviewStates);
    this.#followListed(settings, snapshot.issues.filter(isListed), askedAt);
    await this.#askForRuns();

    const listed = new Map(snapshot.issues.map((issue) => [issue.id, issue]));
    for (const [id, entry] of [...this.#followed]) {
      // Given back while the tracker was asked: what it answered is older.
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
      // What is claimed is followed when it is given back.
      if (this.#followed.has(issue.id) || this.#parts.claims.has(issue.id)) continue;
      if (decideAboutLanding(issue, tracker) !== 'waiting') continue;
      this.#followed.set(issue.id, { issue, ...seen(askedAt), hasRun: null, missingSince: null });
    }
  }

  /** Whether Baton worked on them, of those of which that is not known: each is asked for once, unless the store fails. */
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

  /** `fresh` is undefined where the answer does not have it. Null: it is not followed any more. */
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
    const landing = decideAboutLanding(fresh, settings.tracker);
    if (fresh === null || landing === 'forgotten') return null;
    if (landing === 'waiting') return { ...entry, ...seen(askedAt), issue: fresh, missingSince: null };
    // What the store could not say yet it may say at the next poll.
    if (hasRun === null) return missing(entry, askedAt);
    if (hasRun) this.landed(fresh, entry.openAt);
    return null;
  }

  /**
   * Writes a landing and then remembers it: of several daemons on one store, the first that saw it has said when it was. A
   * store that fails takes nothing from people: the landing is remembered as it was seen here, and written as soon as that
   * is possible; only a daemon that stops gives up. Never rejects.
   */
  async #record(landing: CompletedIssue, openAt: number | null): Promise<void> {
    const { clock, logger, stopping } = this.#parts;
    let isRemembered = false;
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      const isLast = stopping.aborted;
      try {
        const written = await this.#write(landing, openAt);
        // People may have been told of the time that was remembered: it stays.
        if (!isRemembered) this.#remember(written);
        return;
      } catch (error) {
        const { id: issue_id, identifier: issue_identifier } = landing.issue;
        logger.warn('merge_write_failed', { issue_id, issue_identifier, error });
      }
      if (!isRemembered) this.#remember(landing);
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
    // Without a better word it was open when its last run started.
    const since = openAt ?? (await store.runs.latestStarts(project, [issueId])).get(issueId) ?? at;
    return fromRow(await store.landed.note({ project, issueId, identifier, title, url, state, at }, since));
  }

  #remember(landing: CompletedIssue): void {
    this.#keep(landing);
    this.#parts.notify();
  }

  #keep(landing: CompletedIssue): void {
    this.#completed.delete(landing.issue.id);
    this.#completed.set(landing.issue.id, landing);
    const oldest = this.#completed.keys().next().value;
    if (this.#completed.size > mostCompleted && oldest !== undefined) this.#completed.delete(oldest);
  }
}

function fromRow({ issueId: id, identifier, title, url, state, at }: LandedIssue): CompletedIssue {
  return { issue: { id, identifier, url, ...(title === null ? {} : { title }) }, state, at };
}

/** It should have been listed and is not: it has left, and is asked for from now on. */
function missing(entry: FollowedIssue, { monotonic }: AskedAt): FollowedIssue {
  return { ...entry, missingSince: entry.missingSince ?? monotonic };
}

function seen({ wall, monotonic }: AskedAt): Pick<FollowedIssue, 'openAt' | 'seenAt'> {
  return { openAt: wall, seenAt: monotonic };
}

/** A record that the tracker sends malformed would spoil each poll that asks for it. */
function isUnreadable(problem: BatonError | null, id: string): boolean {
  const ids = problem?.details.ids;
  return Array.isArray(ids) && ids.includes(id);
}

function idsOf(entries: readonly FollowedIssue[]): readonly string[] {
  return entries.map(({ issue }) => issue.id);
}
