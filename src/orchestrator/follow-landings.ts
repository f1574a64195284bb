import type { BatonError } from '../core/baton-error.ts';
import { type Issue, normalizeState } from '../core/issue.ts';
import { decideAboutLanding } from '../core/landing-decision.ts';
import type { Settings } from '../core/settings.ts';
import { noteCompleted } from './complete-issue.ts';
import type { OrchestratorContext } from './context.ts';
import { type FollowedIssue, isClaimed } from './scheduling-state.ts';
import type { ReadSnapshot } from './tracker-reads.ts';

/** So many that are still where they were ride along with a poll, the latest changed first. */
const mostRiding = 50;
/** So many are followed in states that no poll lists; the oldest are forgotten. */
const mostResting = 50;
/** One that has left what a poll lists, and found no room in any for so long, is asked for all the same. */
const patienceMs = 10 * 60_000;
/** So many of these are asked for a poll. */
const atATime = 10;

/** What a poll asks for beside the rest. */
export interface LandingsWish {
  /** What must be answered for. */
  readonly watched: readonly string[];
  /** What has left the list, and rides along where there is room. */
  readonly left: readonly string[];
  /** The same of what is still where it was. */
  readonly waiting: readonly string[];
}

/**
 * An issue is given back: until it is over, or to be done again, people are told what becomes of it. What is not in a
 * state to wait in is not followed: a landing has its own way there (complete-issue.ts).
 */
export function followGivenBack({ state, source, clock }: OrchestratorContext, issue: Issue): void {
  const { tracker } = source.read().workflow.settings;
  state.followed.delete(issue.id);
  if (decideAboutLanding(issue, tracker) !== 'waiting') return;
  state.followed.set(issue.id, {
    issue,
    openAt: clock.now(),
    seenAt: clock.monotonic(),
    hasRun: true,
    missingSince: null,
  });
}

/**
 * What a poll asks for so that a landing shows: no request more. What is in review is listed by the poll itself, so only
 * what has left the list has to be asked for, by id. Where a poll is one request, these and the others ride along, if
 * there is room; where it is two, the second one is made for what left, once. A tracker on this machine is asked for all.
 */
export function landingsToAsk(context: OrchestratorContext, settings: Settings): LandingsWish {
  const { state, clock, trackerFor } = context;
  const ours = [...state.followed.values()].filter(({ hasRun }) => hasRun !== false);
  if (ours.length === 0) return { watched: [], left: [], waiting: [] };
  const { isLocal, fetchSnapshot } = trackerFor(settings);
  if (isLocal === true) return { watched: idsOf(ours), left: [], waiting: [] };
  const left = ours.filter(({ missingSince }) => missingSince !== null);
  const waiting = ours.filter(({ missingSince }) => missingSince === null);
  if (fetchSnapshot === undefined) {
    const listed = waiting.filter(({ issue }) => isInReview(settings)(issue));
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

/** When the tracker was asked. */
export interface AskedAt {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * Takes from the answer of a poll what became of the issues that are followed, and follows those that it found in review
 * and that Baton worked on. What could not be seen stays for the next poll. Never rejects.
 */
export async function followLandings(
  context: OrchestratorContext,
  settings: Settings,
  snapshot: ReadSnapshot,
  askedAt: AskedAt,
): Promise<void> {
  const { followed } = context.state;
  const isListed = isInReview(settings);
  followListed(context, settings, snapshot.issues.filter(isListed), askedAt);
  await askForRuns(context);

  const listed = new Map(snapshot.issues.map((issue) => [issue.id, issue]));
  for (const [id, entry] of [...followed]) {
    // Given back while the tracker was asked: what it answered is older.
    if (entry.seenAt > askedAt.monotonic) continue;
    const fresh = snapshot.watched.has(id) ? snapshot.watched.get(id) : listed.get(id);
    const isUnusable = isUnreadable(snapshot.watchedProblem, id);
    const next = isUnusable ? null : followOn(context, settings, entry, fresh, askedAt);
    if (next === null) followed.delete(id);
    else followed.set(id, next);
  }
  const resting = [...followed.values()].filter(({ issue }) => !isListed(issue));
  for (const { issue } of resting.slice(0, -mostResting)) followed.delete(issue.id);
}

function followListed(
  { state }: OrchestratorContext,
  { tracker }: Settings,
  inReview: readonly Issue[],
  askedAt: AskedAt,
): void {
  for (const issue of inReview) {
    // What is claimed is followed when it is given back.
    if (state.followed.has(issue.id) || isClaimed(state, issue.id)) continue;
    if (decideAboutLanding(issue, tracker) !== 'waiting') continue;
    state.followed.set(issue.id, { issue, ...seen(askedAt), hasRun: null, missingSince: null });
  }
}

/** Whether Baton worked on them, of those of which that is not known: each is asked for once, unless the store fails. */
async function askForRuns({ state, store, project, logger }: OrchestratorContext): Promise<void> {
  const unknown = [...state.followed.values()].filter(({ hasRun }) => hasRun === null).map(({ issue }) => issue.id);
  if (unknown.length === 0) return;
  try {
    const starts = await store.runs.latestStarts(project, unknown);
    for (const id of unknown) {
      const entry = state.followed.get(id);
      if (entry?.hasRun === null) state.followed.set(id, { ...entry, hasRun: starts.has(id) });
    }
  } catch (error) {
    logger.warn('review_runs_unreadable', { error });
  }
}

/** `fresh` is undefined where the answer does not have it. Null: it is not followed any more. */
function followOn(
  context: OrchestratorContext,
  settings: Settings,
  entry: FollowedIssue,
  fresh: Issue | null | undefined,
  askedAt: AskedAt,
): FollowedIssue | null {
  const { hasRun } = entry;
  if (fresh === undefined) {
    if (hasRun === false) return null;
    return isInReview(settings)(entry.issue) ? left(entry, askedAt) : entry;
  }
  const landing = decideAboutLanding(fresh, settings.tracker);
  if (fresh === null || landing === 'forgotten') return null;
  if (landing === 'waiting') return { ...entry, ...seen(askedAt), issue: fresh, missingSince: null };
  // What the store could not say yet it may say at the next poll.
  if (hasRun === null) return left(entry, askedAt);
  if (hasRun) noteCompleted(context, fresh, entry.openAt);
  return null;
}

/** It should have been listed and is not: it has left, and is asked for from now on. */
function left(entry: FollowedIssue, { monotonic }: AskedAt): FollowedIssue {
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

function isInReview({ tracker }: Settings): (issue: Issue) => boolean {
  const names = new Set(tracker.reviewStates.map(normalizeState));
  return ({ state }) => names.has(normalizeState(state));
}

function idsOf(entries: readonly FollowedIssue[]): readonly string[] {
  return entries.map(({ issue }) => issue.id);
}
