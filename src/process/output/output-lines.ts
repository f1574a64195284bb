import { LineFramer, type OutputLine } from './line-framer.ts';
import type { OutputChunks } from './output-chunks.ts';

/** The lines of a child's output, for one reader. A reader that leaves early lets the rest be thrown away. */
export async function* outputLines(chunks: OutputChunks, maxLineBytes: number): AsyncGenerator<OutputLine, void> {
  const framer = new LineFramer(maxLineBytes);
  try {
    for (let chunk = await chunks.next(); chunk !== null; chunk = await chunks.next()) yield* framer.push(chunk);
    const rest = framer.end();
    if (rest !== null) yield rest;
  } finally {
    chunks.discard();
  }
}
