import type { Clock } from '../../../clock/clock.ts';
import { BatonError, toBatonError } from '../../../core/baton-error.ts';
import type { Issue } from '../../../core/issue/issue.ts';
import type { Logger } from '../../../core/logger.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import type { Ask, Snapshot, SnapshotRequest } from '../../tracker.ts';
import { type Found, findAll, findChanges, findWatched, type Wanted } from '../read/find-issues.ts';
import { distinctStates, isPossibleId } from '../read/issue-filters.ts';
import type { ReadParts } from '../read/read-issues.ts';
import type { DispatchRules } from '../read/to-issue.ts';
import { type ClockReading, msBetween, readClocks } from './clock-reading.ts';
import type { CollectedRecords } from './collected-records.ts';
import { createFullReadWait } from './full-read-wait.ts';
import { type Known, nextChangesRead } from './next-changes-read.ts';
import { type PollState, snapshotFrom } from './poll-state.ts';
import { stateAfterRead } from './state-after-read.ts';

/** The maximum age of issues that were not seen to change: after it everything is read again. */
const fullReadEveryMs = 3_600_000;

export interface SnapshotParts extends ReadParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: (ask?: Ask) => Promise<DispatchRules>;
}

/**
 * One read for a whole poll. After a full read it requests only what changed in the project since, in any state. The
 * same request covers the watched issues and, where there are places left, a few blocked issues in turn (a relation
 * comes and goes without a trace in the issue) and the welcome ones. What must hold:
 *
 * - A watched issue is current, or it is missing and the problem says why.
 * - Any other issue is current if it, or a blocker in the project, was changed in the project. A change without such a
 *   trace (moved out, deleted, related) is seen after an hour at the latest, unless full reads fail. `seen` holds the
 *   issues that this read covered.
 * - Only Linear's own times are compared. Late changes are read until none can appear any more (next-changes-read.ts).
 * - A failed read does not change the kept state. If the answer of Linear was the reason, the next read is a full one.
 *   If there was no answer, the kept state is still valid, and a failure costs no more than a success.
 * - A failed full read is not repeated for a while (full-read-wait.ts). Until then polls continue from the kept state.
 * - One read at a time, so that an older answer never replaces a newer one.
 */
export function createReadSnapshot(parts: SnapshotParts): (request: SnapshotRequest, ask?: Ask) => Promise<Snapshot> {
  const wait = createFullReadWait(parts.clock);
  let kept: PollState | null = null;
  let isInDoubt = false;
  let malformedBefore = 0;
  let before: Promise<unknown> = Promise.resolve();

  const find = async (wanted: Wanted, now: ClockReading, ask?: Ask): Promise<Found> => {
    if (!isFor(kept, wanted)) return wait.during(() => findAll(wanted, false, parts, ask));
    const mayReadAll = wait.isOver(now);
    const isDue = isInDoubt || kept.isBehind || msBetween(kept.fullReadAt, now) >= fullReadEveryMs;
    const changes = isDue && mayReadAll ? null : nextChangesRead(kept, now, mayReadAll);
    const found = changes === null ? null : await findChanges(kept, changes, wanted, parts, ask);
    return found ?? wait.during(() => findAll(wanted, changes !== null, parts, ask));
  };

  const read = async (request: SnapshotRequest, ask?: Ask): Promise<Snapshot> => {
    ask?.signal?.throwIfAborted();
    const now = readClocks(parts.clock);
    const { states, watched, ...rest } = normalized(request);
    if (states.length + watched.length === 0) return { issues: [], watched: new Map() };
    const wanted: Wanted = { states, watched, ...rest, rules: await parts.rules(ask) };
    if (states.length === 0) {
      const collected = await findWatched(wanted, parts, ask);
      return {
        ...snapshotFrom(null, collected, wanted, null),
        watchedProblem: watchedProblem(watched, collected, kept),
      };
    }

    const found = await find(wanted, now, ask);
    const { collected, welcomed } = found;
    const base = found.kind === 'all' ? null : found.base;
    const snapshot = snapshotFrom(base, collected, { ...wanted, watched: [...watched, ...welcomed] }, kept);
    const problem = watchedProblem(watched, collected, kept);
    kept = stateAfterRead(found, snapshot, wanted, kept, now);
    if (found.kind === 'all') isInDoubt = false;
    if (collected.malformed > 0 && collected.malformed !== malformedBefore) {
      parts.logger.warn('tracker_records_dropped', { count: collected.malformed });
    }
    malformedBefore = collected.malformed;
    return { ...snapshot, watchedProblem: problem };
  };

  return (request, ask) => {
    const inFront = before;
    const reading = turn(inFront, ask?.signal)
      .then(() => read(request, ask))
      .catch((thrown: unknown) => {
        const { code } = toBatonError(thrown);
        isInDoubt ||= code === 'tracker_response' || code === 'tracker_pagination' || code === 'tracker_auth';
        throw thrown;
      });
    before = Promise.allSettled([inFront, reading]).then(() => {});
    return reading;
  };
}

/** Resolves when the reads ahead are over (`inFront` never rejects); rejects as soon as the signal aborts. */
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

function normalized(request: SnapshotRequest): Omit<Wanted, 'rules'> {
  const spelled = distinctStates(request.states);
  const watched = [...new Set(request.watched)];
  const isMore = (id: string): boolean => isPossibleId(id) && !watched.includes(id);
  return {
    states: [...spelled.keys()].toSorted(),
    spelled: [...spelled.values()],
    watched,
    welcome: [...new Set(request.welcome ?? [])].filter(isMore),
  };
}

/** Whether a read can continue from the kept state. */
function isFor(kept: PollState | null, { states, rules }: Wanted): kept is Known {
  return (
    kept !== null &&
    kept.newest !== null &&
    kept.rules.assigneeId === rules.assigneeId &&
    kept.states.join('\n') === states.join('\n')
  );
}

/** Why some watched issues are missing: Linear sent malformed records. Null when all could be read. */
function watchedProblem(
  watched: readonly string[],
  { unreadable }: CollectedRecords,
  kept: Pick<PollState, 'issues' | 'watched'> | null,
): BatonError | null {
  const ids = watched.filter((id) => unreadable.has(id));
  if (ids.length === 0) return null;
  const knownAs = (id: string): Issue | undefined =>
    kept?.watched.get(id) ?? kept?.issues.find((issue) => issue.id === id);
  const names = ids.map((id) => harmlessLine(unreadable.get(id) ?? knownAs(id)?.identifier ?? id));
  const message = `Linear sent a malformed record for ${names.join(', ')}.`;
  return new BatonError('tracker_response', message, {
    details: { issues: names, ids, provider_code: 'linear_unknown_payload' },
  });
}
