import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { hasText } from './has-text.ts';
import type { RunEventSearch, RunEventsFound } from './run-events.ts';

/** Looks at the next events of a run, and at no more than asked: a run may have tens of thousands. */
export async function searchRunEvents(
  db: Kysely<Database>,
  runId: string,
  { text, afterSeq, scan }: RunEventSearch,
): Promise<RunEventsFound> {
  const few = () =>
    db
      .selectFrom('run_events')
      .selectAll()
      .where('run_id', '=', runId)
      .where('seq', '>', afterSeq)
      .orderBy('seq')
      .limit(scan);
  const rows = await db
    .selectFrom(few().as('looked_at'))
    .selectAll()
    .where(hasText('looked_at.summary', text))
    .orderBy('seq')
    .execute();
  const last = await few()
    .clearSelect()
    .select('seq')
    .limit(1)
    .offset(scan - 1)
    .executeTakeFirst();
  return {
    events: rows.map(({ seq, at, name, summary }) => ({ seq, at, name, summary })),
    next: last?.seq ?? null,
  };
}
