import { appendFileSync } from 'node:fs';
import { rm, truncate } from 'node:fs/promises';
import { BatonError } from '../../core/baton-error.ts';
import {
  endsTorn,
  isFileName,
  readGap,
  segmentFile,
  sizeOfSegment,
  type TranscriptGap,
  writeGap,
} from './transcript-segments.ts';

export interface TranscriptLimits {
  /** What the transcript of one run takes on the disk, in bytes. */
  readonly totalBytes: number;
  readonly segmentBytes: number;
}

/** The end of a transcript. The writer knows it, and finds it again from the files. */
export interface TranscriptEnd {
  segment: number;
  size: number;
  totalBytes: number;
  /** The last line was cut off by a crash: it has no end yet. */
  isTorn: boolean;
  gap: TranscriptGap;
}

export async function findEnd(folder: string, runId: string): Promise<TranscriptEnd> {
  if (!isFileName(runId)) {
    throw new BatonError(
      'internal_error',
      `The run id ${JSON.stringify(runId)} cannot be a file name, so it has no transcript.`,
      {
        details: { run_id: runId },
      },
    );
  }
  const gap = readGap(folder, runId);
  // A crash between writing the gap and removing the segment left that behind.
  if (gap.next > 2) await rm(segmentFile(folder, runId, gap.next - 1), { force: true });
  let [segment, size] = [1, sizeOfSegment(folder, runId, 1) ?? 0];
  let totalBytes = size;
  for (let next = gap.next; ; next += 1) {
    const found = sizeOfSegment(folder, runId, next);
    if (found === null) break;
    [segment, size] = [next, found];
    totalBytes += found;
  }
  return { segment, size, totalBytes, gap, isTorn: await endsTorn(segmentFile(folder, runId, segment), size) };
}

/**
 * Adds lines at the end and moves it on. All of them are there afterwards or, where the disk allows it, none: then they
 * may be written again. The first segment always stays; when there is too much, the oldest after it goes.
 */
export async function writeLines(
  folder: string,
  runId: string,
  end: TranscriptEnd,
  lines: readonly string[],
  limits: TranscriptLimits,
): Promise<void> {
  const before: { readonly file: string; readonly size: number }[] = [];
  let text = end.isTorn ? '\n' : '';
  let bytes = text.length;
  const write = async (): Promise<void> => {
    if (bytes === 0) return;
    await makeRoom(folder, runId, end, bytes, limits);
    const file = segmentFile(folder, runId, end.segment);
    before.push({ file, size: end.size });
    // The file system keeps it in memory, so this takes a fraction of the way through another thread.
    appendFileSync(file, text, { mode: 0o600 });
    end.isTorn = false;
    end.size += bytes;
    end.totalBytes += bytes;
    [text, bytes] = ['', 0];
  };
  try {
    for (const line of lines) {
      const length = Buffer.byteLength(line) + 1;
      if (end.size + bytes > 0 && end.size + bytes + length > limits.segmentBytes) {
        await write();
        end.segment = end.segment === 1 ? end.gap.next : end.segment + 1;
        end.size = 0;
      }
      text += `${line}\n`;
      bytes += length;
    }
    await write();
  } catch (error) {
    for (const { file, size } of before.toReversed()) await truncate(file, size).catch(() => {});
    throw error;
  }
}

async function makeRoom(
  folder: string,
  runId: string,
  end: TranscriptEnd,
  bytes: number,
  { totalBytes }: TranscriptLimits,
): Promise<void> {
  while (end.totalBytes + bytes > totalBytes && end.gap.next < end.segment) {
    const oldest = end.gap.next;
    const size = sizeOfSegment(folder, runId, oldest) ?? 0;
    const { missing } = end.gap;
    const gap = { missing: { segments: missing.segments + 1, bytes: missing.bytes + size }, next: oldest + 1 };
    // The gap is written first: a crash in between leaves a segment that `findEnd` removes.
    await writeGap(folder, runId, gap);
    end.gap = gap;
    await rm(segmentFile(folder, runId, oldest), { force: true });
    end.totalBytes -= size;
  }
}
