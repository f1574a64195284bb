import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '../schema.ts';
import type { RequestCounts, RequestQuery } from './request-counts.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const labels = ['provider', 'route', 'method', 'status_class', 'job', 'cause'] as const;

export function requestCountsTable(db: Kysely<Database>): RequestCounts {
  return {
    add: async (request) => {
      const row = {
        provider: request.provider,
        route: request.route,
        method: request.method,
        status_class: request.statusClass,
        job: request.job,
        cause: request.cause,
        count: 1,
        bytes: request.bytes,
        latency_ms: Math.round(request.latencyMs),
      };
      await db
        .insertInto('request_counts')
        .values([
          { bucket: 'day', begins_at: request.at - (request.at % dayMs), ...row },
          { bucket: 'minute', begins_at: request.at - (request.at % minuteMs), ...row },
        ])
        .onConflict((conflict) =>
          conflict.columns(['bucket', 'begins_at', ...labels]).doUpdateSet((eb) => ({
            count: eb('request_counts.count', '+', 1),
            bytes: eb('request_counts.bytes', '+', row.bytes),
            latency_ms: eb('request_counts.latency_ms', '+', row.latency_ms),
          })),
        )
        .execute();
    },

    sum: async (query) => {
      const rows = await counted(db, query)
        .select([...labels])
        .select([
          sql<number>`cast(sum(count) as bigint)`.as('count'),
          sql<number>`cast(sum(bytes) as bigint)`.as('bytes'),
          sql<number>`cast(sum(latency_ms) as bigint)`.as('latencyMs'),
        ])
        .groupBy([...labels])
        .orderBy('provider')
        .orderBy('route')
        .orderBy('method')
        .orderBy('status_class')
        .orderBy('job')
        .orderBy('cause')
        .execute();
      return rows.map(({ status_class, ...rest }) => ({ statusClass: status_class, ...rest }));
    },

    series: (query) =>
      counted(db, query)
        .select(['provider', 'cause', 'begins_at as beginsAt', sql<number>`cast(sum(count) as bigint)`.as('count')])
        .groupBy(['begins_at', 'provider', 'cause'])
        .orderBy('begins_at')
        .orderBy('provider')
        .orderBy('cause')
        .execute(),

    prune: async (before, limit) => {
      const key = sql.join(['bucket', 'begins_at', ...labels].map((column) => sql.ref(column)));
      const done = await sql`
        delete from request_counts where (${key}) in (
          select ${key} from request_counts where bucket = 'minute' and begins_at < ${before}
          order by begins_at limit ${limit}
        )`.execute(db);
      return Number(done.numAffectedRows);
    },
  };
}

/** The buckets that a question is about. */
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
