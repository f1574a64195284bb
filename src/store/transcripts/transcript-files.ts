import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { readPage, seekSeq, type TranscriptCursor, type TranscriptPage } from './read-transcript.ts';
import { nullIfMissing, runOfFile } from './transcript-segments.ts';
import { findEnd, type TranscriptEnd, type TranscriptLimits, writeLines } from './write-transcript.ts';

/** The complete output of agents, one transcript for each run. The table of events in the store is its index. */
export interface Transcripts {
  /** Appends lines in the order of the calls. After a rejection the same lines may be appended again. */
  append(runId: string, lines: readonly string[]): Promise<void>;
  remove(runIds: readonly string[]): Promise<void>;
  /** The runs that have a transcript here, the bytes of its files, and when the newest was written. */
  list(): Promise<readonly TranscriptSize[]>;
}

export interface TranscriptSize {
  readonly runId: string;
  readonly bytes: number;
  readonly writtenAt: number;
}

export interface TranscriptReader {
  /** Reads from the beginning, or from the end of an earlier page. An unknown run has an empty transcript. */
  read(runId: string, query: { readonly cursor?: TranscriptCursor; readonly limit: number }): Promise<TranscriptPage>;
  /** Where the event with this number is, for `read`; where there is none, the first later one, or the end. */
  seek(runId: string, seq: number): Promise<TranscriptCursor>;
}

/** A longer transcript keeps its beginning and its end; the middle is removed. */
const defaultLimits: TranscriptLimits = { totalBytes: 64 * 1024 * 1024, segmentBytes: 8 * 1024 * 1024 };

/** The number of runs whose transcript end is remembered; for others it is read from the files. */
const mostRemembered = 256;

/**
 * Transcripts as files of JSON lines in a folder of their own, for their owner only (`transcript-segments.ts` describes
 * the files). What must hold: a run is written by one process at a time; a line that a crash cut off is ended before the
 * next one, so that no line is lost with it; any process may read meanwhile.
 */
export function transcriptFiles(
  folder: string,
  limits: TranscriptLimits = defaultLimits,
): Transcripts & TranscriptReader {
  const ends = new Map<string, TranscriptEnd>();
  const queues = new Map<string, Promise<void>>();
  let isReady = false;
  const append = async (runId: string, lines: readonly string[]): Promise<void> => {
    if (!isReady) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // A folder of another user is not changed; the files are private in any case.
      await chmod(folder, 0o700).catch(() => {});
    }
    const end = ends.get(runId) ?? (await findEnd(folder, runId));
    // Forgotten until the write succeeded: after a failure the next call reads the files and makes the folder.
    ends.delete(runId);
    isReady = false;
    await writeLines(folder, runId, end, lines, limits);
    isReady = true;
    ends.set(runId, end);
    const [oldest] = ends.keys();
    if (ends.size > mostRemembered && oldest !== undefined) ends.delete(oldest);
  };
  return {
    append: (runId, lines) => {
      const earlier = queues.get(runId) ?? Promise.resolve();
      const done = earlier.catch(() => {}).then(() => append(runId, lines));
      queues.set(runId, done);
      const leave = (): void => void (queues.get(runId) === done && queues.delete(runId));
      void done.then(leave, leave);
      return done;
    },
    remove: async (runIds) => {
      if (runIds.length === 0) return;
      const gone = new Set(runIds);
      for (const runId of gone) ends.delete(runId);
      const names = (await readdir(folder).catch(nullIfMissing)) ?? [];
      for (const name of names) {
        if (gone.has(runOfFile(name) ?? '')) await rm(path.join(folder, name), { force: true });
      }
    },
    list: async () => {
      const found = new Map<string, TranscriptSize>();
      for (const name of (await readdir(folder).catch(nullIfMissing)) ?? []) {
        const runId = runOfFile(name);
        // A file may be removed, or replaced by the next, while the folder is read.
        const stats = runId === null ? null : await stat(path.join(folder, name)).catch(nullIfMissing);
        if (runId === null || stats === null) continue;
        const before = found.get(runId) ?? { bytes: 0, writtenAt: 0 };
        const writtenAt = Math.max(before.writtenAt, Math.floor(stats.mtimeMs));
        found.set(runId, { runId, bytes: before.bytes + stats.size, writtenAt });
      }
      return [...found.values()];
    },
    read: (runId, query) => readPage(folder, runId, query),
    seek: (runId, seq) => seekSeq(folder, runId, seq),
  };
}
