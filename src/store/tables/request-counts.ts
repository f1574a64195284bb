import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '../schema.ts';
import { countIn } from './statements.ts';

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

type RequestRow = ReturnType<typeof rowsOf>[number];

const nothing = { count: 0, bytes: 0, latency_ms: 0 };

function rowsOf({ at, statusClass, latencyMs, ...request }: RequestCount) {
  const { provider, route, method, job, cause, bytes } = request;
  const latency_ms = Math.round(latencyMs);
  const row = { provider, route, method, status_class: statusClass, job, cause, count: 1, bytes, latency_ms };
  return [
    { bucket: 'day' as const, begins_at: at - (at % dayMs), ...row },
    { bucket: 'minute' as const, begins_at: at - (at % minuteMs), ...row },
  ];
}

const sumOf = (column: 'count' | 'bytes' | 'latency_ms') => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;

export type RequestCounts = ReturnType<typeof requestCountsTable>;

/** Requests to remote services, counted in buckets of a minute and of a UTC day. */
export function requestCountsTable(db: Kysely<Database>) {
  return {
    /** Adds each request to the buckets that hold its `at`, all in one statement. */
    add: async (...requests: readonly RequestCount[]): Promise<void> => {
      const rows = new Map<string, RequestRow>();
      for (const request of requests) {
        for (const row of rowsOf(request)) {
          const id = JSON.stringify(key.map((column) => row[column]));
          const { count, bytes, latency_ms } = rows.get(id) ?? nothing;
          const sums = { count: row.count + count, bytes: row.bytes + bytes, latency_ms: row.latency_ms + latency_ms };
          rows.set(id, { ...row, ...sums });
        }
      }
      if (rows.size === 0) return;
      await db
        .insertInto('request_counts')
        .values([...rows.values()])
        .onConflict((conflict) =>
          conflict.columns(key).doUpdateSet((eb) => ({
            count: eb('request_counts.count', '+', eb.ref('excluded.count')),
            bytes: eb('request_counts.bytes', '+', eb.ref('excluded.bytes')),
            latency_ms: eb('request_counts.latency_ms', '+', eb.ref('excluded.latency_ms')),
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

    countOld: (before: number): Promise<number> =>
      countIn(db.selectFrom('request_counts').where('bucket', '=', 'minute').where('begins_at', '<', before)),

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
