import type { RunDetail } from '../../../client/schema/run.ts';
import type { RunEventLine } from '../../../store/tables/run-events.ts';
import type { RunRecord } from '../../../store/tables/runs.ts';
import type { ApiProject } from '../api-project.ts';
import { runSpans, spanEvents } from '../present/run-spans.ts';
import { type TranscriptEvent, transcriptEvents } from '../present/transcript-payloads.ts';

/** The most spans in an answer; when there are more, the first and the last. */
const mostSpans = 500;
/** How many events are read from each end. */
const eventsPerEnd = 1_000;
const bytesPerEnd = 4 * 1024 * 1024;
const questionsRead = 200;

/** The spans of a run; for a long run, those of its beginning and its end. */
export async function readSpans(
  { tables, transcripts }: ApiProject,
  run: RunRecord,
): Promise<Pick<RunDetail, 'spans' | 'are_spans_cut'>> {
  const { runId, project, issueId } = run;
  const [first, last] = await Promise.all([
    tables.runEvents.named(runId, spanEvents, { from: 'first', limit: eventsPerEnd }),
    tables.runEvents.named(runId, spanEvents, { from: 'last', limit: eventsPerEnd }),
  ]);
  const [end] = await tables.runEvents.listLast(runId, { limit: 1 });
  const read = async (from: number, to: number, keeps: 'first' | 'last'): Promise<readonly TranscriptEvent[]> => {
    const span = { from, to, mostBytes: bytesPerEnd, keeps };
    // Without a transcript, spans still show stages and turns.
    const part = await transcriptEvents(transcripts, runId, span).catch(() => null);
    return part?.events ?? [];
  };
  const lastSeq = end?.seq ?? 0;
  const tailFrom = Math.max(eventsPerEnd + 1, lastSeq - eventsPerEnd + 1);
  const transcript = [
    ...(await read(1, Math.min(lastSeq, eventsPerEnd), 'first')),
    ...(lastSeq >= tailFrom ? await read(tailFrom, lastSeq, 'last') : []),
  ];
  const questions = await tables.questions.list(project, { issueId, limit: questionsRead });
  const spans = runSpans({ run, events: merged(first, last), transcript, questions });
  const isLeftOut = lastSeq > 2 * eventsPerEnd || hasGap(first, last);
  if (spans.length <= mostSpans) return { spans, are_spans_cut: isLeftOut };
  const half = mostSpans / 2;
  return { spans: [...spans.slice(0, half), ...spans.slice(-half)], are_spans_cut: true };
}

function merged(first: readonly RunEventLine[], last: readonly RunEventLine[]): readonly RunEventLine[] {
  const until = first.at(-1)?.seq ?? 0;
  return [...first, ...last.filter(({ seq }) => seq > until)];
}

function hasGap(first: readonly RunEventLine[], last: readonly RunEventLine[]): boolean {
  return first.length === eventsPerEnd && (last[0]?.seq ?? 0) > (first.at(-1)?.seq ?? 0);
}
