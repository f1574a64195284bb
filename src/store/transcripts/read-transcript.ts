import { type FileHandle, open } from 'node:fs/promises';
import {
  gapLine,
  isFileName,
  newline,
  nullIfMissing,
  readGap,
  segmentFile,
  sizeOfSegment,
} from './transcript-segments.ts';

/** A place in a transcript. A cursor from a page is always at the beginning of a line. */
export interface TranscriptCursor {
  readonly segment: number;
  /** In bytes. */
  readonly offset: number;
}

export interface TranscriptPage {
  /**
   * Each the JSON text of an object: an event as `transcriptLine` makes it; `{"missing":…}` where segments were removed;
   * `{"torn":…}` where a crash cut a line off.
   */
  readonly lines: readonly string[];
  /** The place for the next page. After an empty page there is nothing more for now; a live run may add more later. */
  readonly next: TranscriptCursor;
}

interface PlacedLine {
  readonly text: string;
  readonly segment: number;
  readonly offset: number;
}

/** A page ends after this many bytes, however few lines it has. */
const bytesAPage = 4 * 1024 * 1024;
const bytesARead = 64 * 1024;
/** No line that was written whole is longer. */
const longestLine = 1024 * 1024;
const linesASearch = 1_000;

const begin: TranscriptCursor = { segment: 1, offset: 0 };

/** Reads one page from a place, also while a run is writing. */
export async function readPage(
  folder: string,
  runId: string,
  query: { readonly cursor?: TranscriptCursor; readonly limit: number },
): Promise<TranscriptPage> {
  if (!isFileName(runId)) return { lines: [], next: begin };
  const { lines, next } = await readPlaced(folder, runId, startOf(query.cursor), query.limit);
  return { lines: lines.map(({ text }) => text), next };
}

/** Where the event with this number begins; where there is none, the first later one, or the end. */
export async function seekSeq(folder: string, runId: string, seq: number): Promise<TranscriptCursor> {
  if (!isFileName(runId)) return begin;
  let from = await segmentBefore(folder, runId, seq);
  for (;;) {
    const { lines, next } = await readPlaced(folder, runId, from, linesASearch);
    const found = lines.find(({ text }) => (seqOf(text) ?? 0) >= seq);
    if (found !== undefined) return { segment: found.segment, offset: found.offset };
    if (lines.length === 0) return next;
    from = next;
  }
}

async function readPlaced(
  folder: string,
  runId: string,
  from: TranscriptCursor,
  limit: number,
): Promise<{ readonly lines: readonly PlacedLine[]; readonly next: TranscriptCursor }> {
  const lines: PlacedLine[] = [];
  let [at, bytesLeft] = [from, bytesAPage];
  while (lines.length < limit && bytesLeft > 0) {
    const handle = await open(segmentFile(folder, runId, at.segment), 'r').catch(nullIfMissing);
    const gap = readGap(folder, runId);
    if (handle === null) {
      // It was removed meanwhile, or is not there yet.
      if (at.segment >= gap.next || gap.missing.segments === 0) break;
      lines.push({ text: gapLine(gap), ...at });
      at = { segment: gap.next, offset: 0 };
      continue;
    }
    const next = at.segment === 1 ? gap.next : at.segment + 1;
    let found: Found;
    try {
      // Checked before reading, so that later writes are in the next page.
      const isComplete = sizeOfSegment(folder, runId, next) !== null;
      found = await linesFrom(handle, at, { most: limit - lines.length, bytes: bytesLeft, isComplete });
    } finally {
      await handle.close();
    }
    lines.push(...found.lines);
    bytesLeft -= found.offset - at.offset;
    at = { segment: at.segment, offset: found.offset };
    if (!found.isOver) break;
    // The page has no space for the line about the gap: it comes first the next time.
    if (at.segment === 1 && gap.missing.segments > 0) {
      if (lines.length >= limit) break;
      lines.push({ text: gapLine(gap), ...at });
    }
    at = { segment: next, offset: 0 };
  }
  return { lines, next: at };
}

interface Found {
  readonly lines: readonly PlacedLine[];
  /** Behind the last line. */
  readonly offset: number;
  /** All of the segment was read, and it is complete. */
  readonly isOver: boolean;
}

async function linesFrom(
  handle: FileHandle,
  { segment, offset: from }: TranscriptCursor,
  wanted: { readonly most: number; readonly bytes: number; readonly isComplete: boolean },
): Promise<Found> {
  const lines: PlacedLine[] = [];
  let [offset, rest] = [from, Buffer.alloc(0)];
  const add = (text: string, bytes: number): void => {
    if (text !== '') lines.push({ text, segment, offset });
    offset += bytes;
  };
  const isEnough = (): boolean => lines.length >= wanted.most || offset - from >= wanted.bytes;
  for (;;) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytesARead), 0, bytesARead, offset + rest.length);
    if (bytesRead === 0) {
      // A line without an end is still being written, unless its writer has gone on to the next segment.
      if (wanted.isComplete && rest.length > 0) add(tornLine(rest), rest.length);
      return { lines, offset, isOver: wanted.isComplete };
    }
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      add(wholeLine(rest.subarray(0, end)), end + 1);
      rest = rest.subarray(end + 1);
      if (isEnough()) return { lines, offset, isOver: false };
    }
    if (rest.length > longestLine) {
      add(tornLine(rest), rest.length);
      rest = Buffer.alloc(0);
      if (isEnough()) return { lines, offset, isOver: false };
    }
  }
}

function wholeLine(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (text === '') return '';
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? text : tornLine(bytes);
  } catch {
    return tornLine(bytes);
  }
}

function tornLine(bytes: Buffer): string {
  return JSON.stringify({ torn: { bytes: bytes.length, begins: bytes.toString('utf8', 0, 200) } });
}

/** The beginning of the last segment that begins before this event. */
async function segmentBefore(folder: string, runId: string, seq: number): Promise<TranscriptCursor> {
  const { next: firstLater } = readGap(folder, runId);
  let found = 1;
  for (let segment = firstLater; ; segment += 1) {
    const handle = await open(segmentFile(folder, runId, segment), 'r').catch(nullIfMissing);
    if (handle === null) break;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0).finally(() => handle.close());
    if ((seqOf(buffer.toString('utf8', 0, bytesRead)) ?? 0) > seq) break;
    found = segment;
  }
  return { segment: found, offset: 0 };
}

function seqOf(line: string): number | null {
  const digits = /^\{"seq":(\d+)/.exec(line)?.[1];
  return digits === undefined ? null : Number(digits);
}

function startOf(cursor: TranscriptCursor | undefined): TranscriptCursor {
  const isPlace = (value: number | undefined, least: number): boolean =>
    Number.isSafeInteger(value) && (value ?? 0) >= least;
  return cursor !== undefined && isPlace(cursor.segment, 1) && isPlace(cursor.offset, 0) ? cursor : begin;
}
