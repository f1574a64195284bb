import type { Clock } from '../../clock/clock.ts';
import { toBatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import type { Ask, Snapshot, SnapshotWish } from '../tracker.ts';
import { mostRiding, shortLists } from './documents.ts';
import { distinctStates, isPossibleId } from './issue-filters.ts';
import { type Kept, leftByGone, type Moment, msBetween, nextBlocked, snapshotFrom } from './kept-snapshot.ts';
import { idOf, type LinearRecord, type Reading } from './linear-record.ts';
import { type Look, lookAtAll, lookAtChanges } from './look-at-project.ts';
import { type ReadParts, readByIds, requireWhole } from './read-issues.ts';
import { nothingSighted, type Sighted, takeAsked, takeListed } from './sighted.ts';
import type { DispatchRules } from './to-issue.ts';

/** So old may be what was not seen to change: then everything is read again. */
const fullReadEveryMs = 3_600_000;
/** Linear's changes may become visible in another order than their times tell, one so much later than another. */
const overlapMs = 120_000;

export interface SnapshotParts extends ReadParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: (ask?: Ask) => Promise<DispatchRules>;
}

/** A wish, made ready. */
interface Wanted {
  /** Normalised, sorted. */
  readonly states: readonly string[];
  readonly spelled: readonly string[];
  readonly watched: readonly string[];
  readonly rules: DispatchRules;
}

/** What was read, on what it builds (null: on nothing, it is everything) and who rode along because it is blocked. */
interface Reached {
  readonly base: Kept | null;
  readonly look: Look;
  readonly waiting: readonly string[];
}

/**
 * One read for a whole poll. After a full read it asks only for what changed in the project since, whatever its state, and
 * in the same request for the watched issues and for a few that are blocked, in turn: a relation comes and goes without
 * a trace in the issue. What must hold:
 *
 * - A watched issue is as it is now. Another one is as it is now if it, or a blocker in the project, was changed in the
 *   project; what leaves no such trace (moved out, deleted, related) is seen after an hour at the latest.
 * - Only Linear's own times are compared. A look overlaps the one before until nothing can show up late any more; then
 *   a great change, such as an import, is not read again and again.
 * - A read that fails changes nothing that is kept. If it failed by what Linear said, everything is read anew next time;
 *   if there was no answer, what is kept is as good as it was, and a failure costs no more than a success.
 * - One read at a time, so that an older answer never replaces a newer one.
 */
export function createReadSnapshot(parts: SnapshotParts): (wish: SnapshotWish, ask?: Ask) => Promise<Snapshot> {
  let kept: Kept | null = null;
  let isInDoubt = false;
  let malformedBefore = 0;
  let before: Promise<unknown> = Promise.resolve();

  const read = async (wish: SnapshotWish, ask?: Ask): Promise<Snapshot> => {
    ask?.signal?.throwIfAborted();
    const now = momentOf(parts.clock);
    const spelled = distinctStates(wish.states);
    const states = [...spelled.keys()].toSorted();
    const watched = [...new Set(wish.watched)];
    if (states.length + watched.length === 0) return { issues: [], watched: new Map() };
    const wanted: Wanted = { states, spelled: [...spelled.values()], watched, rules: await parts.rules(ask) };
    if (states.length === 0) return readWatchedOnly(wanted, parts, ask);

    const reached = await reach(isInDoubt || !mayContinue(kept, wanted, now) ? null : kept, wanted, parts, ask);
    const { base, look, waiting } = reached;
    const sighted = await sight(reached, wanted, parts, ask);
    const snapshot = snapshotFrom(base, sighted, wanted, kept);
    const newest = newer(base?.newest ?? null, look.newest);
    const newestSeenAt = kept !== null && kept.newest === newest ? kept.newestSeenAt : now.monotonic;
    kept = {
      states,
      rules: wanted.rules,
      issues: snapshot.issues,
      watched: new Map([...snapshot.watched].flatMap(([id, issue]) => (issue === null ? [] : [[id, issue]]))),
      newest,
      newestSeenAt,
      isSettled: now.monotonic - newestSeenAt >= overlapMs,
      fullReadAt: base?.fullReadAt ?? now,
      pagesOfFullRead: base?.pagesOfFullRead ?? look.pages,
      lastRider: waiting.at(-1) ?? base?.lastRider ?? null,
      gone: sighted.gone,
    };
    if (sighted.malformed > 0 && sighted.malformed !== malformedBefore) {
      parts.logger.warn('Dropping malformed Linear issue records.', { count: sighted.malformed });
    }
    malformedBefore = sighted.malformed;
    isInDoubt = false;
    return snapshot;
  };

  return (wish, ask) => {
    const inFront = before;
    const reading = turn(inFront, ask?.signal)
      .then(() => read(wish, ask))
      .catch((thrown: unknown) => {
        const { code } = toBatonError(thrown);
        isInDoubt ||= code === 'tracker_response' || code === 'tracker_pagination' || code === 'tracker_auth';
        throw thrown;
      });
    before = Promise.allSettled([inFront, reading]).then(() => {});
    return reading;
  };
}

/** Resolves when what is in front is over, which never rejects; rejects as soon as nobody wants to know any more. */
function turn(inFront: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal?.reason);
    if (signal?.aborted === true) return giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    void inFront.then(() => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    });
  });
}

function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

function newer(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : Math.max(left, right);
}

function mayContinue(kept: Kept | null, { states, rules }: Wanted, now: Moment): kept is Kept {
  return (
    kept !== null &&
    kept.newest !== null &&
    kept.rules.assigneeId === rules.assigneeId &&
    kept.states.join('\n') === states.join('\n') &&
    msBetween(kept.fullReadAt, now) < fullReadEveryMs
  );
}

async function readWatchedOnly({ watched, rules }: Wanted, parts: SnapshotParts, ask?: Ask): Promise<Snapshot> {
  const sighted = nothingSighted();
  takeAsked(sighted, watched, await readByIds(watched, shortLists, parts, ask));
  return snapshotFrom(null, sighted, { states: [], watched, rules }, null);
}

/** What changed if that is known from something, otherwise everything. */
async function reach(kept: Kept | null, wanted: Wanted, parts: SnapshotParts, ask?: Ask): Promise<Reached> {
  const riders = ridersOf(wanted);
  if (kept !== null && kept.newest !== null) {
    const waiting = nextBlocked(kept, new Set(wanted.watched), mostRiding - riders.length);
    // More pages than half a full read has: then that is the shorter way.
    const mostPages = Math.max(1, Math.floor(kept.pagesOfFullRead / 2));
    const since = kept.isSettled ? kept.newest + 1 : kept.newest - overlapMs;
    const look = await lookAtChanges(since, mostPages, [...riders, ...waiting], parts, ask);
    if (look !== null) return { base: kept, look, waiting };
  }
  return { base: null, look: await lookAtAll(wanted.spelled, riders, parts, ask), waiting: [] };
}

/** Watched issues, if they are few; many are asked for in a request of their own. */
function ridersOf({ watched }: Wanted): readonly string[] {
  return watched.length <= mostRiding ? watched.filter(isPossibleId) : [];
}

/** All that was reached, and what is still to be asked for. */
async function sight(
  { base, look, waiting }: Reached,
  wanted: Wanted,
  parts: SnapshotParts,
  ask?: Ask,
): Promise<Sighted> {
  const sighted = nothingSighted();
  takeListed(sighted, look.listed);
  const riders = ridersOf(wanted);
  takeAsked(sighted, riders, byId(requireWhole(look.riding, new Set(riders))));
  takeWaiting(sighted, waiting, look.riding);
  const others = riders.length > 0 ? [] : wanted.watched;
  // A full read has just shown those that it lists.
  const asked = base === null ? others.filter((id) => !sighted.records.has(id)) : others;
  takeAsked(sighted, asked, await readByIds(asked, shortLists, parts, ask));
  if (base !== null) {
    const left = leftByGone(base, sighted);
    takeAsked(sighted, left, await readByIds(left, shortLists, parts, ask));
  }
  return sighted;
}

/** Those that rode along in turn: nobody asked for them, so a malformed one is only counted. */
function takeWaiting(sighted: Sighted, waiting: readonly string[], riding: readonly Reading[]): void {
  const asked = new Set(waiting);
  const readings = riding.filter((reading) => asked.has(idOf(reading) ?? ''));
  const shown = new Set(readings.map(idOf));
  takeListed(sighted, readings);
  takeAsked(
    sighted,
    waiting.filter((id) => !shown.has(id)),
    new Map(),
  );
}

function byId(records: readonly LinearRecord[]): ReadonlyMap<string, LinearRecord> {
  return new Map(records.map((record) => [record.id, record]));
}
