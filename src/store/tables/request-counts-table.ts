import { type Kysely, sql } from 'kysely';
import type { RequestCounts } from '../request-counts.ts';
import type { Database } from '../schema.ts';

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
      let wanted = db
        .selectFrom('request_counts')
        .select([...labels])
        .select([
          sql<number>`cast(sum(count) as bigint)`.as('count'),
          sql<number>`cast(sum(bytes) as bigint)`.as('bytes'),
          sql<number>`cast(sum(latency_ms) as bigint)`.as('latencyMs'),
        ])
        .where('bucket', '=', query.bucket)
        .where('begins_at', '>=', query.from)
        .where('begins_at', '<', query.to)
        .groupBy([...labels])
        .orderBy('provider')
        .orderBy('route')
        .orderBy('method')
        .orderBy('status_class')
        .orderBy('job')
        .orderBy('cause');
      if (query.provider !== undefined) wanted = wanted.where('provider', '=', query.provider);
      const rows = await wanted.execute();
      return rows.map(({ status_class, ...rest }) => ({ statusClass: status_class, ...rest }));
    },

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
