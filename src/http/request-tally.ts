import type { Clock } from '../clock/clock.ts';
import { importanceOf, type RequestCause } from '../core/requests/request-caller.ts';
import { type Instant, instantAt } from './instant.ts';

/** Requests of a minute or a day, as the store counted them. */
export interface CountedRequests {
  readonly beginsAt: number;
  readonly cause: string;
  readonly count: number;
}

/** Essential requests for live runs, and all others. */
export interface Split {
  essential: number;
  others: number;
}

export interface Bucket {
  readonly beginsAt: Instant;
  readonly total: Readonly<Split>;
}

interface Counts {
  /** Its latest beginning: a clock that is set back enters a minute twice. */
  beginsAt: Instant;
  /** Requests that this process sent, for all stores. */
  readonly own: Split;
  readonly bySource: Map<string, SourceCounts>;
}

interface SourceCounts {
  /** The part of our requests that the store has. */
  readonly written: Split;
  /** Requests of others in the store: other daemons, and this one before a restart. */
  readonly foreign: Split;
}

/** Our requests that a store had at one time, by the beginning of the bucket. */
export type WrittenMark = ReadonlyMap<number, Readonly<Split>>;

/**
 * Counts requests in buckets of one width. Ours are counted when they are sent. The requests of others are the counts of a
 * store minus our own that it had before it was read. So reading the store again counts nothing twice, except for a moment
 * our requests that were written during the read; and none of ours is ever forgotten.
 *
 * Projects may share a credential and have a store each: the counts of one store replace only the earlier counts of that
 * store. A source is the name of a store; all writers of a store must use the same name.
 */
export class RequestTally {
  readonly #clock: Clock;
  readonly #widthMs: number;
  readonly #buckets = new Map<number, Counts>();

  constructor(clock: Clock, widthMs: number) {
    this.#clock = clock;
    this.#widthMs = widthMs;
  }

  count(at: number, kind: keyof Split, change: 1 | -1): void {
    const bucket = this.#bucketOf(at);
    bucket.own[kind] += change;
    const again = this.#instantOf(bucket.beginsAt.wallAt);
    if (change > 0 && again.monotonicAt > bucket.beginsAt.monotonicAt) bucket.beginsAt = again;
  }

  written(source: string, at: number, kind: keyof Split): void {
    sourceIn(this.#bucketOf(at), source).written[kind] += 1;
  }

  mark(source: string): WrittenMark {
    return new Map([...this.#buckets].map(([key, bucket]) => [key, { ...sourceIn(bucket, source).written }]));
  }

  /** `mark` was taken before the store was read. */
  seed(source: string, counted: readonly CountedRequests[], mark: WrittenMark): void {
    for (const bucket of this.#buckets.values()) Object.assign(sourceIn(bucket, source).foreign, noRequests);
    for (const { beginsAt, cause, count } of counted) {
      if (!Number.isFinite(beginsAt) || !(count > 0)) continue;
      sourceIn(this.#bucketOf(beginsAt), source).foreign[kindOf(cause)] += count;
    }
    for (const [key, bucket] of this.#buckets) {
      const { foreign } = sourceIn(bucket, source);
      const ours = mark.get(key) ?? noRequests;
      foreign.essential = Math.max(0, foreign.essential - ours.essential);
      foreign.others = Math.max(0, foreign.others - ours.others);
    }
  }

  forget(isOver: (beginsAt: Instant) => boolean): void {
    for (const [key, { beginsAt }] of this.#buckets) if (isOver(beginsAt)) this.#buckets.delete(key);
  }

  buckets(): readonly Bucket[] {
    return [...this.#buckets.values()].map(({ beginsAt, own, bySource }) => {
      const total = { ...own };
      for (const { foreign } of bySource.values()) {
        total.essential += foreign.essential;
        total.others += foreign.others;
      }
      return { beginsAt, total };
    });
  }

  #bucketOf(at: number): Counts {
    const beginsAt = Math.floor(at / this.#widthMs) * this.#widthMs;
    const known = this.#buckets.get(beginsAt);
    if (known !== undefined) return known;
    const made: Counts = { beginsAt: this.#instantOf(beginsAt), own: { ...noRequests }, bySource: new Map() };
    this.#buckets.set(beginsAt, made);
    return made;
  }

  /** A bucket in the future comes from before the clock was set back; it began now at the latest. */
  #instantOf(beginsAt: number): Instant {
    const instant = instantAt(this.#clock, beginsAt);
    return { ...instant, monotonicAt: Math.min(instant.monotonicAt, this.#clock.monotonic()) };
  }
}

const noRequests: Readonly<Split> = { essential: 0, others: 0 };

function sourceIn({ bySource }: Counts, source: string): SourceCounts {
  const known = bySource.get(source);
  if (known !== undefined) return known;
  const made: SourceCounts = { written: { ...noRequests }, foreign: { ...noRequests } };
  bySource.set(source, made);
  return made;
}

export function kindOf(cause: string): keyof Split {
  // A cause of a newer Baton is unknown here and counts as not essential.
  return importanceOf({ job: '', cause: cause as RequestCause }) === 'essential' ? 'essential' : 'others';
}
