import type { LiveProcess } from './containment/live-process.ts';
import { LineFramer, type OutputLine } from './output/line-framer.ts';
import type { OutputChunks } from './output/output-chunks.ts';
import { type ChildRequest, type ProcessDeps, startChild } from './start-child.ts';

export interface LaunchRequest extends ChildRequest {
  /** A longer line is cut here and reported as `truncated`. */
  readonly maxLineBytes?: number;
}

/** Agents write each message as one line; the longest seen has 5 MB. A line above this limit is not a message. */
const defaultMaxLineBytes = 16 * 1024 * 1024;

/**
 * Starts a program that keeps running: an agent. Resolves as soon as it runs; rejects with `process_spawn_failed` when
 * it cannot be started. The caller must call `stop`, even after the program has exited: `stop` ends the processes that
 * the program left behind.
 */
export async function launch(request: LaunchRequest, deps: ProcessDeps): Promise<LiveProcess> {
  const { chunks, ...child } = await startChild(request, deps);
  return { ...child, lines: outputLines(chunks, request.maxLineBytes ?? defaultMaxLineBytes) };
}

/** The lines of a child's output, for one reader. If the reader stops early, the rest is discarded. */
async function* outputLines(chunks: OutputChunks, maxLineBytes: number): AsyncGenerator<OutputLine, void> {
  const framer = new LineFramer(maxLineBytes);
  try {
    for (let chunk = await chunks.next(); chunk !== null; chunk = await chunks.next()) yield* framer.push(chunk);
    const rest = framer.end();
    if (rest !== null) yield rest;
  } finally {
    chunks.discard();
  }
}
