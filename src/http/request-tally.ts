import type { Clock } from '../clock/clock.ts';
import { importanceOf, type RequestCause } from '../core/request-caller.ts';
import { type Moment, momentAt } from './moment.ts';

/** Requests of a minute or a day, as the store counted them. */
export interface CountedRequests {
  readonly beginsAt: number;
  readonly cause: string;
  readonly count: number;
}

/** Custody of live runs, and everything else. */
export interface Split {
  custody: number;
  others: number;
}

export interface Bucket {
  readonly beginsAt: Moment;
  readonly total: Readonly<Split>;
}

interface Counts {
  readonly beginsAt: Moment;
  /** What this process sent. */
  readonly own: Split;
  /** Of that, what the store has. */
  readonly written: Split;
  /** What the store has from elsewhere: other daemons, earlier lives. */
  foreign: Split;
}

/** What of ours the store had at a time, by the beginning of the bucket. */
export type WrittenMark = ReadonlyMap<number, Readonly<Split>>;

/**
 * Requests in buckets of one width. Ours are counted as they leave; what others sent is what the store has beyond what it
 * had of ours before it was read. So reading the store again counts nothing twice but, for a moment, what of ours was
 * written while it was read; and nothing of ours is ever forgotten.
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
    this.#bucketOf(at).own[kind] += change;
  }

  written(at: number, kind: keyof Split): void {
    this.#bucketOf(at).written[kind] += 1;
  }

  mark(): WrittenMark {
    return new Map([...this.#buckets].map(([beginsAt, { written }]) => [beginsAt, { ...written }]));
  }

  /** `mark` was made before the store was read. */
  seed(counted: readonly CountedRequests[], mark: WrittenMark): void {
    for (const bucket of this.#buckets.values()) bucket.foreign = { custody: 0, others: 0 };
    for (const { beginsAt, cause, count } of counted) {
      if (Number.isFinite(beginsAt) && count > 0) this.#bucketOf(beginsAt).foreign[kindOf(cause)] += count;
    }
    for (const [beginsAt, { foreign }] of this.#buckets) {
      const ours = mark.get(beginsAt);
      foreign.custody = Math.max(0, foreign.custody - (ours?.custody ?? 0));
      foreign.others = Math.max(0, foreign.others - (ours?.others ?? 0));
    }
  }

  forget(isOver: (beginsAt: Moment) => boolean): void {
    for (const [key, { beginsAt }] of this.#buckets) if (isOver(beginsAt)) this.#buckets.delete(key);
  }

  buckets(): readonly Bucket[] {
    return [...this.#buckets.values()].map(({ beginsAt, own, foreign }) => ({
      beginsAt,
      total: { custody: own.custody + foreign.custody, others: own.others + foreign.others },
    }));
  }

  #bucketOf(at: number): Counts {
    const beginsAt = Math.floor(at / this.#widthMs) * this.#widthMs;
    const known = this.#buckets.get(beginsAt);
    if (known !== undefined) return known;
    const made: Counts = {
      beginsAt: this.#momentOf(beginsAt),
      own: { custody: 0, others: 0 },
      written: { custody: 0, others: 0 },
      foreign: { custody: 0, others: 0 },
    };
    this.#buckets.set(beginsAt, made);
    return made;
  }

  /** A bucket that seems to lie ahead comes from a clock that was set back since; it began now at the latest. */
  #momentOf(beginsAt: number): Moment {
    const moment = momentAt(this.#clock, beginsAt);
    return { ...moment, monotonicAt: Math.min(moment.monotonicAt, this.#clock.monotonic()) };
  }
}

export function kindOf(cause: string): keyof Split {
  // A cause that a newer Baton wrote is none of ours: it has no importance and counts among the others.
  return importanceOf({ job: '', cause: cause as RequestCause }) === 'custody' ? 'custody' : 'others';
}
