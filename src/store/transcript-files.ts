import { appendFile, mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/** What agents said, whole, one file a run: the store's table of events is the index to it. */
export interface Transcripts {
  append(runId: string, lines: readonly string[]): Promise<void>;
  remove(runIds: readonly string[]): Promise<void>;
}

/** A run that says more than this has gone astray; its file ends with a line that tells so. */
const defaultMaxBytes = 64 * 1024 * 1024;

/** Transcripts as files of JSON lines in a folder of their own, for their owner only. Run ids are file names. */
export function transcriptFiles(folder: string, maxBytes: number = defaultMaxBytes): Transcripts {
  const sizes = new Map<string, number>();
  const fileOf = (runId: string): string => path.join(folder, `${runId}.jsonl`);
  return {
    append: async (runId, lines) => {
      const size = sizes.get(runId) ?? (await sizeOf(fileOf(runId)));
      if (size > maxBytes) return;
      const text = lines.map((line) => `${line}\n`).join('');
      const isFull = size + Buffer.byteLength(text) > maxBytes;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await appendFile(fileOf(runId), isFull ? '{"truncated":true}\n' : text, { mode: 0o600 });
      sizes.set(runId, isFull ? Number.POSITIVE_INFINITY : size + Buffer.byteLength(text));
    },
    remove: async (runIds) => {
      for (const runId of runIds) {
        sizes.delete(runId);
        await rm(fileOf(runId), { force: true });
      }
    },
  };
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null);
  return found?.size ?? 0;
}
