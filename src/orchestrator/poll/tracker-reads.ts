import type { Timer } from '../../clock/clock.ts';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { type Issue, normalizeState } from '../../core/issue/issue.ts';
import type { RequestCaller } from '../../core/requests/request-caller.ts';
import type { Snapshot, SnapshotRequest, Tracker } from '../../tracker/tracker.ts';
import type { BaseParts } from '../parts.ts';
import { TrackerBackoff } from './tracker-backoff.ts';

/** A read without an answer after this time counts as failed. Adapters give up sooner. */
const longestReadMs = 120_000;
const longAgo = Number.NEGATIVE_INFINITY;
/** Records that are not fresh any more are dropped when this many are stored. */
const mostRemembered = 5_000;

export interface TrackerReadsParts extends Pick<BaseParts, 'clock' | 'stopping'> {
  readonly tracker: () => Tracker;
  /** A record that was read within this time counts as just read (`polling.freshness_ms`). */
  readonly freshnessMs: () => number;
  /** How long a tracker is left alone after this number of failures in a row. */
  readonly backoffMs: (failures: number) => number;
  /** Issues that are needed soon anyway; they are added to a read for this number of issues. */
  readonly soon: (count: number) => readonly string[];
  /** How long a read that can wait does so for others to share it; zero where there is nothing to share. */
  readonly gatherMs: () => number;
  /** How many issues may ask for it; when all of them have, none is waited for. */
  readonly mostGathered: () => number;
}

interface Remembered {
  /** Null: the tracker does not have it. */
  readonly issue: Issue | null;
  readonly read: number;
  /** When this record was asked for, on the monotonic clock: later changes may be missing from it. */
  readonly readAt: number;
}

interface Read {
  readonly number: number;
  readonly at: number;
}

/** A snapshot without the issues that were forgotten while it was read. */
export interface ReadSnapshot extends Snapshot {
  /** Why the watched issues could not be read, although the others could. */
  readonly watchedProblem: BatonError | null;
}

interface Batch {
  readonly ids: Set<string>;
  readonly answered: Promise<void>;
  /** Someone asks who does not wait for others. */
  readonly hurry: () => void;
}

/** After a turn, and before a workspace is removed, no one waits for the next moment. */
function canWait({ cause }: RequestCaller): boolean {
  return cause === 'turn' || cause === 'sweep';
}

/**
 * Reads the tracker as seldom as possible. One read by id is in flight at a time; later requests share the next one.
 * Turns that end within a moment share one read, which begins after the last of them.
 * What must hold: no caller gets a record older than `freshnessMs`, or one that was asked for before the issue was
 * forgotten, and an error is never read as "gone". Each read names its caller, because requests are counted by caller.
 */
export class TrackerReads {
  readonly backoff: TrackerBackoff;
  readonly #parts: TrackerReadsParts;
  readonly #remembered = new Map<string, Remembered>();
  /** The number of the first read whose answer counts for an issue. */
  readonly #countsFrom = new Map<string, number>();
  /** As above, for every issue. */
  #allCountFrom = 0;
  #reads = 0;
  #inFlight: Promise<void> | null = null;
  #next: Batch | null = null;

  constructor(parts: TrackerReadsParts) {
    this.#parts = parts;
    this.backoff = new TrackerBackoff(parts.clock, parts.backoffMs);
  }

  /** The issue if it was just read (null: it is gone), undefined when it has to be read. */
  fresh(id: string): Issue | null | undefined {
    return this.freshWithin(id, this.#parts.freshnessMs());
  }

  /** As `fresh`, for a caller that checks many issues: it passes the setting, because looking it up may read a file. */
  freshWithin(id: string, freshnessMs: number): Issue | null | undefined {
    const known = this.#remembered.get(id);
    if (known === undefined) return undefined;
    return this.#parts.clock.monotonic() - known.readAt <= freshnessMs ? known.issue : undefined;
  }

  /** As `fresh`, whatever the age of the record; undefined when it was forgotten since. */
  lastRead(id: string): Issue | null | undefined {
    return this.#remembered.get(id)?.issue;
  }

  /** The issues as they are now, null for those that are gone. Rejects when the tracker does not answer. */
  async byIds(ids: readonly string[], caller: RequestCaller): Promise<ReadonlyMap<string, Issue | null>> {
    const answer = new Map<string, Issue | null>();
    let missing = ids;
    while (missing.length > 0) {
      for (const id of missing) {
        const issue = this.fresh(id);
        if (issue !== undefined) answer.set(id, issue);
      }
      missing = missing.filter((id) => !answer.has(id));
      // Some may have been forgotten while they were read: these are read again.
      if (missing.length > 0) for (const [id, issue] of await this.#ask(missing, caller)) answer.set(id, issue);
      missing = missing.filter((id) => !answer.has(id));
    }
    return answer;
  }

  /** The issue as it is after this call, null when it is gone: for a run whose turn has just ended. */
  async afterTurn(id: string, caller: RequestCaller, signal: AbortSignal): Promise<Issue | null> {
    this.forget(id);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return (await Promise.race([this.byIds([id], caller), aborted])).get(id) ?? null;
    } catch (thrown) {
      if (signal.aborted || toBatonError(thrown).code !== 'tracker_response') throw thrown;
      // A bad record of one issue must not end the runs of others.
      await this.#readBatch(new Set([id]), caller);
      return this.lastRead(id) ?? null;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Every issue in one of these states. One that was forgotten meanwhile is included but is not `fresh`: a caller that
   * must know reads it by id. Leaving it out would keep everything from starting while changes come faster than
   * answers.
   */
  async byStates(states: readonly string[], caller: RequestCaller): Promise<readonly Issue[]> {
    this.backoff.refuse(caller.cause);
    const read = this.#begin();
    const issues = await this.#bounded(caller, (signal, onProgress) =>
      this.#parts.tracker().fetchByStates(states, { signal, caller, onProgress }),
    );
    this.#rememberAll(states, issues, read);
    return issues;
  }

  /**
   * Everything that a poll needs, in one read if the tracker can do that. A watched issue that was forgotten meanwhile
   * is not in the answer.
   */
  async snapshot(wish: SnapshotRequest, caller: RequestCaller): Promise<ReadSnapshot> {
    const tracker = this.#parts.tracker();
    const { fetchSnapshot } = tracker;
    if (fetchSnapshot === undefined) return this.#inTwoReads(wish, caller);
    const read = this.#begin();
    const found = await this.#bounded(caller, (signal, onProgress) =>
      fetchSnapshot.call(tracker, wish, { signal, caller, onProgress }),
    );
    this.#rememberAll(wish.states, found.issues, read, found.seen);
    const watched = new Map<string, Issue | null>();
    for (const [id, issue] of found.watched) {
      if (!this.#counts(id, read)) continue;
      this.#remember(id, issue, read);
      watched.set(id, issue);
    }
    return { issues: found.issues, watched, watchedProblem: found.watchedProblem ?? null };
  }

  async #inTwoReads({ states, watched }: SnapshotRequest, caller: RequestCaller): Promise<ReadSnapshot> {
    const issues = await this.byStates(states, caller);
    // An issue that was forgotten during the read is unknown.
    const known = new Map(
      issues.filter((issue) => this.lastRead(issue.id) === issue).map((issue) => [issue.id, issue]),
    );
    const seen = watched.flatMap((id) => known.get(id) ?? []).map((issue) => [issue.id, issue] as const);
    try {
      const missing = watched.filter((id) => !known.has(id));
      const read = await this.byIds(missing, { ...caller, cause: 'running' });
      return { issues, watched: new Map([...seen, ...read]), watchedProblem: null };
    } catch (thrown) {
      return { issues, watched: new Map(seen), watchedProblem: toBatonError(thrown) };
    }
  }

  /** The known record of the issue is no longer valid, and neither is an answer that is still on its way. */
  forget(id: string): void {
    this.#remembered.delete(id);
    this.#countsFrom.set(id, this.#reads + 1);
  }

  /** As `forget`, for everything. */
  forgetAll(): void {
    this.#remembered.clear();
    this.#countsFrom.clear();
    this.#allCountFrom = this.#reads + 1;
  }

  async #ask(ids: readonly string[], caller: RequestCaller): Promise<ReadonlyMap<string, Issue | null>> {
    this.backoff.refuse(caller.cause);
    this.#next ??= this.#nextBatch(caller);
    for (const id of ids) this.#next.ids.add(id);
    const isWhole = this.#next.ids.size >= this.#parts.mostGathered();
    if (isWhole || !canWait(caller)) this.#next.hurry();
    await this.#next.answered;
    return new Map(
      ids.flatMap((id) => {
        const known = this.#remembered.get(id);
        return known === undefined ? [] : [[id, known.issue] as const];
      }),
    );
  }

  /**
   * The batch that is read after the one in flight; requests until then share it. It is counted for its first caller.
   */
  #nextBatch(caller: RequestCaller): Batch {
    const ids = new Set<string>();
    const { promise: gathered, resolve: hurry } = Promise.withResolvers<void>();
    const gatherMs = canWait(caller) ? this.#parts.gatherMs() : 0;
    const timer = gatherMs > 0 ? this.#parts.clock.schedule(gatherMs, hurry) : hurry();
    const answered = (async () => {
      // All requests in this turn of the event loop share the read, even when none is in flight.
      await this.#inFlight?.catch(() => {});
      await gathered;
      timer?.cancel();
      this.#next = null;
      this.#inFlight = this.#readBatch(ids, caller);
      try {
        await this.#inFlight;
      } finally {
        this.#inFlight = null;
      }
    })();
    return { ids, answered, hurry };
  }

  /** A poll may have read some of them while they waited. */
  async #readBatch(asked: ReadonlySet<string>, caller: RequestCaller): Promise<void> {
    const wanted = [...asked].filter((id) => this.fresh(id) === undefined);
    if (wanted.length === 0) return;
    const others = this.#parts.soon(wanted.length).filter((id) => this.fresh(id) === undefined);
    const ids = [...new Set([...wanted, ...others])];
    const read = this.#begin();
    const issues = await this.#bounded(caller, (signal, onProgress) =>
      this.#parts.tracker().fetchByIds(ids, { signal, caller, onProgress }),
    );
    const found = new Map(issues.map((issue) => [issue.id, issue]));
    for (const id of ids) if (this.#counts(id, read)) this.#remember(id, found.get(id) ?? null, read);
  }

  #begin(): Read {
    this.#reads += 1;
    if (this.#remembered.size >= mostRemembered) this.#prune();
    return { number: this.#reads, at: this.#parts.clock.monotonic() };
  }

  /** Runs before a read, not for each of its records: the new records always stay. */
  #prune(): void {
    for (const id of this.#remembered.keys()) if (this.fresh(id) === undefined) this.#remembered.delete(id);
  }

  /** Whether the answer of a read is valid for an issue: not if the issue was forgotten, or read again, since then. */
  #counts(id: string, { number }: Read): boolean {
    const from = Math.max(this.#allCountFrom, this.#countsFrom.get(id) ?? 0, this.#remembered.get(id)?.read ?? 0);
    return number >= from;
  }

  /** A record that this read did not see is known, but not fresh. A later read by id is more recent and stays. */
  #rememberAll(states: readonly string[], issues: readonly Issue[], read: Read, seen?: ReadonlySet<string>): void {
    this.#forgetAbsent(states, new Set(issues.map(({ id }) => id)), read);
    for (const issue of issues) {
      if (!this.#counts(issue.id, read)) continue;
      if (seen === undefined || seen.has(issue.id)) this.#remember(issue.id, issue, read);
      else if (!this.#remembered.has(issue.id)) this.#remember(issue.id, issue, { ...read, at: longAgo });
    }
  }

  /** An issue that was in one of these states and is not listed any more has changed since. */
  #forgetAbsent(states: readonly string[], present: ReadonlySet<string>, read: Read): void {
    const asked = new Set(states.map(normalizeState));
    for (const [id, known] of this.#remembered) {
      if (known.read > read.number || present.has(id) || known.issue === null) continue;
      if (asked.has(normalizeState(known.issue.state))) this.#remembered.delete(id);
    }
  }

  #remember(id: string, issue: Issue | null, read: Read): void {
    this.#countsFrom.delete(id);
    this.#remembered.set(id, { issue, read: read.number, readAt: read.at });
  }

  async #bounded<T>(
    caller: RequestCaller,
    read: (signal: AbortSignal, onProgress: () => void) => Promise<T>,
  ): Promise<T> {
    const { clock, stopping } = this.#parts;
    const tooLong = new AbortController();
    const silent = new BatonError('tracker_request', 'The tracker has not answered for two minutes.');
    const wait = (): Timer => clock.schedule(longestReadMs, () => tooLong.abort(silent));
    let limit = wait();
    let isOver = false;
    const onProgress = (): void => {
      if (isOver) return;
      limit.cancel();
      limit = wait();
    };
    const signal = AbortSignal.any([stopping, tooLong.signal]);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      // An adapter that ignores its signal must not block other callers.
      const answer = await Promise.race([read(signal, onProgress), aborted]);
      this.backoff.succeeded();
      return answer;
    } catch (thrown) {
      const error = toBatonError(thrown, 'tracker_request');
      if (!stopping.aborted) this.backoff.failed(error, caller.cause);
      throw error;
    } finally {
      isOver = true;
      limit.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }
}
