import type { TranscriptReader } from '../../../store/transcripts/transcript-files.ts';

/** A line of a transcript, as far as it is an event. */
export interface TranscriptEvent {
  readonly seq: number;
  readonly at: number;
  readonly name: string;
  readonly payload?: unknown;
  /** In the place of a payload that was too large. */
  readonly payload_cut?: unknown;
}

export interface TranscriptSpan {
  readonly from: number;
  readonly to: number;
  /** So much text at most; of more, one end is kept. */
  readonly mostBytes: number;
  readonly keeps: 'first' | 'last';
}

export interface TranscriptPart {
  readonly events: readonly TranscriptEvent[];
  /** There was more than fits: nothing is told of what lies beyond the far end of the events. */
  readonly isCut: boolean;
}

const linesAPage = 500;

/**
 * The events from one number to another out of the transcript, in order. What must hold: no more than about `mostBytes`
 * are in memory, however large the events are; at least one event is given where there is any.
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
  /** Of its line. */
  readonly length: number;
}

async function* eventsFrom(transcripts: TranscriptReader, runId: string, from: number): AsyncGenerator<PlacedEvent> {
  let cursor = await transcripts.seek(runId, from);
  for (;;) {
    const { lines, next } = await transcripts.read(runId, { cursor, limit: linesAPage });
    if (lines.length === 0) return;
    for (const line of lines) {
      const event = eventIn(line);
      if (event !== null && event.seq >= from) yield { event, length: line.length };
    }
    cursor = next;
  }
}

/** What happened, whole; where it was too large to be kept, its beginning. */
export function payloadOf({ payload, payload_cut }: TranscriptEvent): unknown {
  return payload_cut === undefined ? payload : { payload_cut };
}

/** Null for what is no event: a gap, or a line that a crash cut off. */
function eventIn(line: string): TranscriptEvent | null {
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null || !('seq' in value) || typeof value.seq !== 'number') return null;
  // Written by Baton itself, line by line.
  return value as TranscriptEvent;
}
