import type { Kysely } from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { atomically, changedRows, countIn, hasText, inParts, lockedRow } from './statements.ts';

export interface RunEventLine {
  /** Counted per run from 1. A missing number is an event that was dropped; the line after says so. */
  readonly seq: number;
  readonly at: number;
  readonly name: string;
  readonly summary: string;
}

export interface RunEventDraft extends Omit<RunEventLine, 'seq'> {
  /** From the caller: such an event is written once, however often it comes. Without it the next number is taken. */
  readonly seq?: number;
}

export interface RunEventSearch {
  readonly text: string;
  readonly afterSeq: number;
  /** At most this number of events is read, however few have the text. */
  readonly scan: number;
}

export interface RunEventsFound {
  readonly events: readonly RunEventLine[];
  /** The `afterSeq` to continue with; null when there is no more. */
  readonly next: number | null;
}

/** An index of the events of a run, one line each. Transcript files have the whole events, by the same `seq`. */
export function runEventsTable(db: Kysely<Database>, engine: Engine['name']) {
  const ofRun = (runId: string) =>
    db.selectFrom('run_events').select(['seq', 'at', 'name', 'summary']).where('run_id', '=', runId);
  return {
    append: async (runId: string, events: readonly RunEventDraft[]): Promise<void> => {
      if (events.length === 0) return;
      await atomically(db, async (inside) => {
        // The run's row is the lock: two writers at once would otherwise count from the same number.
        const run = inside.selectFrom('runs').select('run_id').where('run_id', '=', runId);
        if ((await lockedRow(inside, engine, run)) === undefined) {
          throw new BatonError('store_constraint', `The store has no run ${runId}, so its events were not stored.`);
        }
        const counts = inside.selectFrom('run_events').select((eb) => eb.fn.max('seq').as('seq'));
        const isNumbered = events[0]?.seq !== undefined;
        const last = isNumbered ? undefined : await counts.where('run_id', '=', runId).executeTakeFirst();
        let seq = last?.seq ?? 0;
        const rows = events.map((event) => {
          seq = event.seq ?? seq + 1;
          return { run_id: runId, seq, at: event.at, name: event.name, summary: event.summary };
        });
        for (const some of inParts(rows)) {
          await inside
            .insertInto('run_events')
            .values(some)
            .onConflict((conflict) => conflict.columns(['run_id', 'seq']).doNothing())
            .execute();
        }
      });
    },

    /** In order, from the one after `afterSeq`. */
    list: (
      runId: string,
      { afterSeq = 0, limit }: { readonly afterSeq?: number; readonly limit: number },
    ): Promise<readonly RunEventLine[]> =>
      ofRun(runId).where('seq', '>', afterSeq).orderBy('seq').limit(limit).execute(),

    /** The last ones before `beforeSeq`, or of all; in order too. */
    listLast: async (
      runId: string,
      { beforeSeq, limit }: { readonly beforeSeq?: number; readonly limit: number },
    ): Promise<readonly RunEventLine[]> => {
      const wanted = beforeSeq === undefined ? ofRun(runId) : ofRun(runId).where('seq', '<', beforeSeq);
      return (await wanted.orderBy('seq', 'desc').limit(limit).execute()).toReversed();
    },

    /** Those of these names, in order: the first ones, or the last. */
    named: async (
      runId: string,
      names: readonly string[],
      { from, limit }: { readonly from: 'first' | 'last'; readonly limit: number },
    ): Promise<readonly RunEventLine[]> => {
      if (names.length === 0) return [];
      const rows = await ofRun(runId)
        .where('name', 'in', [...names])
        .orderBy('seq', from === 'first' ? 'asc' : 'desc')
        .limit(limit)
        .execute();
      return from === 'first' ? rows : rows.toReversed();
    },

    /**
     * Finds a text in the summaries of the next events, whatever the case of its ASCII letters. Reads no more than
     * `scan` events: a run may have tens of thousands.
     */
    search: async (runId: string, { text, afterSeq, scan }: RunEventSearch): Promise<RunEventsFound> => {
      const few = ofRun(runId).where('seq', '>', afterSeq).orderBy('seq').limit(scan);
      const events = await db
        .selectFrom(few.as('few'))
        .selectAll()
        .where(hasText('few.summary', text))
        .orderBy('seq')
        .execute();
      const last = await few
        .clearSelect()
        .select('seq')
        .limit(1)
        .offset(scan - 1)
        .executeTakeFirst();
      return { events, next: last?.seq ?? null };
    },

    countOld: (endedBefore: number): Promise<number> =>
      countIn(
        db
          .selectFrom('run_events')
          .where('run_id', 'in', db.selectFrom('runs').select('runs.run_id').where('ended_at', '<', endedBefore)),
      ),

    /**
     * Removes at most `limit` events of runs that ended before this; gives how many, 0 when none is left. So that a run
     * with very many events is not removed in one long step.
     */
    prune: async (endedBefore: number, limit: number): Promise<number> => {
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
      return changedRows(
        db
          .deleteFrom('run_events')
          .where('run_id', '=', run.run_id)
          .where('seq', 'in', (eb) =>
            eb.selectFrom('run_events').select('seq').where('run_id', '=', run.run_id).orderBy('seq').limit(limit),
          ),
      );
    },
  };
}
