import type { RunEvent } from '../../../client/schema/run.ts';
import type { RunEventLine } from '../../../store/tables/run-events.ts';
import type { ApiProject } from '../api-project.ts';
import { presentRunEvent } from '../present/present-run.ts';
import { payloadOf, transcriptEvents } from '../present/transcript-payloads.ts';

export interface EventsQuery {
  /** Forwards: events after this number. Backwards: events before it; if missing, from the end. */
  readonly after: number | undefined;
  readonly limit: number;
  readonly isBackwards: boolean;
  readonly isWhole: boolean;
}

export interface EventsPage {
  readonly events: RunEvent[];
  readonly after: number;
  readonly has_more: boolean;
}

/** Whole events are large: the most events, and the most text, in one page. */
const mostWhole = 200;
const bytesWhole = 4 * 1024 * 1024;

/** A page of the events of a run, always in order. Continue with the `after` of the answer, in either direction. */
export async function readEvents(project: ApiProject, runId: string, query: EventsQuery): Promise<EventsPage> {
  const limit = query.isWhole ? Math.min(query.limit, mostWhole) : query.limit;
  const lines = await linesOf(project, runId, query, limit + 1);
  const hasMore = lines.length > limit;
  const shown = query.isBackwards ? lines.slice(-limit) : lines.slice(0, limit);
  const events = query.isWhole ? await whole(project, runId, shown, query.isBackwards) : shown.map(presentRunEvent);
  const end = query.isBackwards ? events.at(0) : events.at(-1);
  return {
    events: events,
    after: end?.seq ?? query.after ?? 0,
    has_more: hasMore || events.length < shown.length,
  };
}

function linesOf({ tables }: ApiProject, runId: string, { after, isBackwards }: EventsQuery, limit: number) {
  const { runEvents } = tables;
  if (!isBackwards) return runEvents.list(runId, { afterSeq: after ?? 0, limit });
  return runEvents.listLast(runId, { limit, ...(after === undefined ? {} : { beforeSeq: after }) });
}

/**
 * Adds the payloads from the transcript. When they exceed one answer, events at the far end are left out, so that the
 * next page finds them. An event that is missing in the transcript comes without a payload.
 */
async function whole(
  { transcripts }: ApiProject,
  runId: string,
  lines: readonly RunEventLine[],
  isBackwards: boolean,
): Promise<RunEvent[]> {
  if (lines.length === 0) return [];
  const [from, to] = [lines[0]?.seq ?? 0, lines.at(-1)?.seq ?? 0];
  const span = { from, to, mostBytes: bytesWhole, keeps: isBackwards ? 'last' : 'first' } as const;
  const { events, isCut } = await transcriptEvents(transcripts, runId, span);
  const payloads = new Map(events.map((event) => [event.seq, payloadOf(event)]));
  const [first, last] = [events[0]?.seq ?? from, events.at(-1)?.seq ?? to];
  const fitting = lines.filter(({ seq }) => !isCut || (isBackwards ? seq >= first : seq <= last));
  // A page must always advance, whatever the transcript contains.
  return (fitting.length === 0 ? lines : fitting).map((line) => ({
    ...presentRunEvent(line),
    ...payloadFor(payloads.get(line.seq)),
  }));
}

function payloadFor(payload: unknown): { readonly payload?: unknown } {
  return payload === undefined ? {} : { payload };
}
