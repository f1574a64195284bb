import type { Kysely } from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import { atomically } from '../atomically.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { lockedRow } from './locked-row.ts';
import type { RunEventLine, RunEvents } from './run-events.ts';
import { searchRunEvents } from './search-run-events.ts';

/** Lines in one statement; each is five parameters. */
const linesAStatement = 500;

export function runEventsTable(db: Kysely<Database>, engine: Engine['name']): RunEvents {
  return {
    append: async (runId, events) => {
      if (events.length === 0) return;
      await atomically(db, async (inside) => {
        await lockRun(inside, engine, runId);
        const last = await inside
          .selectFrom('run_events')
          .select((eb) => eb.fn.max('seq').as('seq'))
          .where('run_id', '=', runId)
          .executeTakeFirst();
        let seq = last?.seq ?? 0;
        const rows = events.map((event) => {
          seq = event.seq ?? seq + 1;
          return { run_id: runId, seq, at: event.at, name: event.name, summary: event.summary };
        });
        for (let start = 0; start < rows.length; start += linesAStatement) {
          await inside
            .insertInto('run_events')
            .values(rows.slice(start, start + linesAStatement))
            .onConflict((conflict) => conflict.columns(['run_id', 'seq']).doNothing())
            .execute();
        }
      });
    },

    list: async (runId, query) => {
      const rows = await db
        .selectFrom('run_events')
        .selectAll()
        .where('run_id', '=', runId)
        .where('seq', '>', query.afterSeq ?? 0)
        .orderBy('seq')
        .limit(query.limit)
        .execute();
      return rows.map(lineFrom);
    },

    listLast: async (runId, query) => {
      let wanted = db.selectFrom('run_events').selectAll().where('run_id', '=', runId);
      if (query.beforeSeq !== undefined) wanted = wanted.where('seq', '<', query.beforeSeq);
      const rows = await wanted.orderBy('seq', 'desc').limit(query.limit).execute();
      return rows.toReversed().map(lineFrom);
    },

    named: async (runId, names, query) => {
      if (names.length === 0) return [];
      const rows = await db
        .selectFrom('run_events')
        .selectAll()
        .where('run_id', '=', runId)
        .where('name', 'in', [...names])
        .orderBy('seq', query.from === 'first' ? 'asc' : 'desc')
        .limit(query.limit)
        .execute();
      return (query.from === 'first' ? rows : rows.toReversed()).map(lineFrom);
    },

    search: (runId, query) => searchRunEvents(db, runId, query),

    prune: async (endedBefore, limit) => {
      const run = await db
        .selectFrom('runs')
        .select('run_id')
        .where('ended_at', '<', endedBefore)
        .where((eb) =>
          eb.exists(eb.selectFrom('run_events').select('seq').whereRef('run_events.run_id', '=', 'runs.run_id')),
        )
        .orderBy('ended_at')
        .limit(1)
        .executeTakeFirst();
      if (run === undefined) return 0;
      const done = await db
        .deleteFrom('run_events')
        .where('run_id', '=', run.run_id)
        .where('seq', 'in', (eb) =>
          eb.selectFrom('run_events').select('seq').where('run_id', '=', run.run_id).orderBy('seq').limit(limit),
        )
        .executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}

function lineFrom({ seq, at, name, summary }: Database['run_events']): RunEventLine {
  return { seq, at, name, summary };
}

/** The run's row is the lock: two who append at once would otherwise count from the same number. */
async function lockRun(db: Kysely<Database>, engine: Engine['name'], runId: string): Promise<void> {
  const row = await lockedRow(db, engine, db.selectFrom('runs').select('run_id').where('run_id', '=', runId));
  if (row === undefined) throw new BatonError('store_constraint', `there is no run ${runId} to add events to`);
}
