import { readFileSync, statSync } from 'node:fs';
import { open, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { numberIn, recordIn, valueFromText } from '../json.ts';

/**
 * The files of a transcript. Segment 1 is `RUN.jsonl`; the next are `RUN.jsonl.000002` and so on, each
 * complete when its successor is there. Segments are removed from the second on upwards, and then `RUN.jsonl.gap` says in
 * one line what is missing after the first and which segment is next.
 */
export interface TranscriptGap {
  readonly missing: { readonly segments: number; readonly bytes: number };
  /** The first segment after those that are missing. */
  readonly next: number;
}

const noGap: TranscriptGap = { missing: { segments: 0, bytes: 0 }, next: 2 };

/** A run id that cannot be a file name has no transcript; ids may come from outside. */
export function isFileName(runId: string): boolean {
  return /^[\w-][\w.-]*$/.test(runId) && runId.length <= 200;
}

export function segmentFile(folder: string, runId: string, segment: number): string {
  const end = segment === 1 ? '' : `.${String(segment).padStart(6, '0')}`;
  return path.join(folder, `${runId}.jsonl${end}`);
}

/** The run that a file in the folder belongs to; null for any other file. */
export function runOfFile(name: string): string | null {
  return /^(.+)\.jsonl(?:\.(?:\d{6,}|gap|gap-new))?$/.exec(name)?.[1] ?? null;
}

/** Null for a missing segment. */
export function sizeOfSegment(folder: string, runId: string, segment: number): number | null {
  return sizeOf(segmentFile(folder, runId, segment));
}

export function readGap(folder: string, runId: string): TranscriptGap {
  const file = gapFile(folder, runId);
  if (sizeOf(file) === null) return noGap;
  const text = readFileSync(file, 'utf8');
  const found = recordIn(valueFromText(text));
  const [next, missing] = [numberIn(found.next), recordIn(found.missing)];
  if (next === null || !Number.isSafeInteger(next) || next < 2) return noGap;
  return { missing: { segments: numberIn(missing.segments) ?? 0, bytes: numberIn(missing.bytes) ?? 0 }, next };
}

/** Replaces the earlier gap atomically. */
export async function writeGap(folder: string, runId: string, gap: TranscriptGap): Promise<void> {
  const file = gapFile(folder, runId);
  await writeFile(`${file}-new`, `${gapLine(gap)}\n`, { mode: 0o600 });
  await rename(`${file}-new`, file);
}

export function gapLine(gap: TranscriptGap): string {
  return JSON.stringify(gap);
}

/** Whether a file that is not empty ends in the middle of a line. */
export async function endsTorn(file: string, size: number): Promise<boolean> {
  if (size === 0) return false;
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return bytesRead === 1 && buffer[0] !== newline;
  } finally {
    await handle.close();
  }
}

export const newline = 0x0a;

export function nullIfMissing(thrown: unknown): null {
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return null;
  throw thrown;
}

function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}

function gapFile(folder: string, runId: string): string {
  return path.join(folder, `${runId}.jsonl.gap`);
}
