/** Requests to remote services, counted in buckets of a minute and of a UTC day. */
export interface RequestCounts {
  /** Adds to the buckets that hold `at`. */
  add(request: RequestCount): Promise<void>;
  /** Sums over buckets that begin in `[from, to)`, by provider, route, method, status class, job and cause. */
  sum(query: RequestQuery): Promise<readonly RequestSum[]>;
  /** How many requests each bucket that begins in `[from, to)` has, by provider and cause; the earliest first. */
  series(query: RequestQuery): Promise<readonly RequestBucket[]>;
  /** Removes minute buckets that began before this, at most `limit`; gives how many. */
  prune(before: number, limit: number): Promise<number>;
}

export interface RequestQuery {
  readonly bucket: 'minute' | 'day';
  readonly from: number;
  readonly to: number;
  readonly provider?: string;
}

export interface RequestBucket {
  readonly provider: string;
  readonly cause: string;
  readonly beginsAt: number;
  readonly count: number;
}

export interface RequestLabels {
  readonly provider: string;
  /** A template such as `/issues/:id`, never an address with ids in it. */
  readonly route: string;
  readonly method: string;
  /** `2xx`, `4xx`, …, or `error` when there was no answer. */
  readonly statusClass: string;
  readonly job: string;
  readonly cause: string;
}

export interface RequestCount extends RequestLabels {
  readonly at: number;
  readonly bytes: number;
  readonly latencyMs: number;
}

export interface RequestSum extends RequestLabels {
  readonly count: number;
  readonly bytes: number;
  readonly latencyMs: number;
}
