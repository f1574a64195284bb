import type { TranscriptReader } from '../../../store/transcripts/transcript-files.ts';

/** A line of a transcript that is an event. */
export interface TranscriptEvent {
  readonly seq: number;
  readonly at: number;
  readonly name: string;
  readonly payload?: unknown;
  /** Replaces a payload that was too large. */
  readonly payload_cut?: unknown;
}

export interface TranscriptSpan {
  readonly from: number;
  readonly to: number;
  /** The most text to return; when there is more, only one end is kept. */
  readonly mostBytes: number;
  readonly keeps: 'first' | 'last';
}

export interface TranscriptPart {
  readonly events: readonly TranscriptEvent[];
  /** There was more than fits: the events beyond the far end are missing. */
  readonly isCut: boolean;
}

const linesPerPage = 500;

/**
 * The events of a transcript from one number to another, in order. What must hold: at most about `mostBytes` are in
 * memory, however large the events are; at least one event is returned if there is any.
 */
export async function transcriptEvents(
  transcripts: TranscriptReader,
  runId: string,
  { from, to, mostBytes, keeps }: TranscriptSpan,
): Promise<TranscriptPart> {
  const kept: PlacedEvent[] = [];
  let [bytes, isCut] = [0, false];
  for await (const placed of eventsFrom(transcripts, runId, from)) {
    if (placed.event.seq > to || (isCut && keeps === 'first')) break;
    kept.push(placed);
    bytes += placed.length;
    while (bytes > mostBytes && kept.length > 1) {
      isCut = true;
      bytes -= (keeps === 'first' ? kept.pop() : kept.shift())?.length ?? 0;
    }
    if (placed.event.seq === to) break;
  }
  return { events: kept.map(({ event }) => event), isCut };
}

interface PlacedEvent {
  readonly event: TranscriptEvent;
  /** The length of its line. */
  readonly length: number;
}

async function* eventsFrom(transcripts: TranscriptReader, runId: string, from: number): AsyncGenerator<PlacedEvent> {
  let cursor = await transcripts.seek(runId, from);
  for (;;) {
    const { lines, next } = await transcripts.read(runId, { cursor, limit: linesPerPage });
    if (lines.length === 0) return;
    for (const line of lines) {
      const event = eventIn(line);
      if (event !== null && event.seq >= from) yield { event, length: line.length };
    }
    cursor = next;
  }
}

/** The whole payload; when it was too large to store, its beginning. */
export function payloadOf({ payload, payload_cut }: TranscriptEvent): unknown {
  return payload_cut === undefined ? payload : { payload_cut };
}

/** Null when the line is not an event: a gap, or a line cut off by a crash. */
function eventIn(line: string): TranscriptEvent | null {
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null || !('seq' in value) || typeof value.seq !== 'number') return null;
  // Baton itself writes these lines.
  return value as TranscriptEvent;
}
