import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '../schema.ts';

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

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const labels = ['provider', 'route', 'method', 'status_class', 'job', 'cause'] as const;
const key = ['bucket', 'begins_at', ...labels] as const;

const sumOf = (column: 'count' | 'bytes' | 'latency_ms') => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;

export type RequestCounts = ReturnType<typeof requestCountsTable>;

/** Requests to remote services, counted in buckets of a minute and of a UTC day. */
export function requestCountsTable(db: Kysely<Database>) {
  return {
    /** Adds to the buckets that hold `at`. */
    add: async ({ at, statusClass, latencyMs, ...request }: RequestCount): Promise<void> => {
      const { provider, route, method, job, cause, bytes } = request;
      const latency_ms = Math.round(latencyMs);
      const row = { provider, route, method, status_class: statusClass, job, cause, count: 1, bytes, latency_ms };
      await db
        .insertInto('request_counts')
        .values([
          { bucket: 'day', begins_at: at - (at % dayMs), ...row },
          { bucket: 'minute', begins_at: at - (at % minuteMs), ...row },
        ])
        .onConflict((conflict) =>
          conflict.columns(key).doUpdateSet((eb) => ({
            count: eb('request_counts.count', '+', 1),
            bytes: eb('request_counts.bytes', '+', bytes),
            latency_ms: eb('request_counts.latency_ms', '+', latency_ms),
          })),
        )
        .execute();
    },

    /** Sums over buckets that begin in `[from, to)`, by provider, route, method, status class, job and cause. */
    sum: (query: RequestQuery): Promise<readonly RequestSum[]> =>
      counted(db, query)
        .select(['provider', 'route', 'method', 'status_class as statusClass', 'job', 'cause'])
        .select([sumOf('count').as('count'), sumOf('bytes').as('bytes'), sumOf('latency_ms').as('latencyMs')])
        .groupBy(labels)
        .orderBy('provider')
        .orderBy('route')
        .orderBy('method')
        .orderBy('status_class')
        .orderBy('job')
        .orderBy('cause')
        .execute(),

    /** The number of requests in each bucket that begins in `[from, to)`, by provider and cause; the earliest first. */
    series: (query: RequestQuery): Promise<readonly RequestBucket[]> =>
      counted(db, query)
        .select(['provider', 'cause', 'begins_at as beginsAt', sumOf('count').as('count')])
        .groupBy(['begins_at', 'provider', 'cause'])
        .orderBy('begins_at')
        .orderBy('provider')
        .orderBy('cause')
        .execute(),

    /** Removes minute buckets that began before this, at most `limit`; gives how many. */
    prune: async (before: number, limit: number): Promise<number> => {
      const columns = sql.join(key.map((column) => sql.ref(column)));
      const done = await sql`
        delete from request_counts where (${columns}) in (
          select ${columns} from request_counts where bucket = 'minute' and begins_at < ${before}
          order by begins_at limit ${limit}
        )`.execute(db);
      return Number(done.numAffectedRows);
    },
  };
}

function counted(
  db: Kysely<Database>,
  { bucket, from, to, provider }: RequestQuery,
): SelectQueryBuilder<Database, 'request_counts', object> {
  const wanted = db
    .selectFrom('request_counts')
    .where('bucket', '=', bucket)
    .where('begins_at', '>=', from)
    .where('begins_at', '<', to);
  return provider === undefined ? wanted : wanted.where('provider', '=', provider);
}
