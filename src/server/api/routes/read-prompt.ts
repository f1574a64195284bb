import { z } from 'zod';
import type { Prompt } from '../../../client/schema/run.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { ApiProject } from '../api-project.ts';
import { type TranscriptEvent, transcriptEvents } from '../present/transcript-payloads.ts';

/** So many pieces of prompts are read: the first one says most, and each is looked for in a file. */
const mostPieces = 40;
const bytesAPiece = 1024 * 1024;

const told = z.object({
  turn: z.int().nonnegative(),
  parts: z.array(z.object({ text: z.string(), is_untrusted: z.boolean() })),
});

/** What the agent of a run was told, turn by turn; empty for a run from before that was written down. */
export async function readPrompt({ tables, transcripts }: ApiProject, runId: string): Promise<Prompt> {
  const lines = await tables.runEvents.named(runId, ['turn_prompt'], { from: 'first', limit: mostPieces });
  const turns: Prompt['turns'] = [];
  for (const { seq } of lines) {
    const span = { from: seq, to: seq, mostBytes: bytesAPiece, keeps: 'first' } as const;
    const [event] = (await transcriptEvents(transcripts, runId, span)).events;
    if (event !== undefined) addPiece(turns, event);
  }
  return { turns };
}

/** A long prompt is in several events, one after the other. */
function addPiece(turns: Prompt['turns'], { at, payload }: TranscriptEvent): void {
  const piece = told.safeParse(payload);
  if (!piece.success) return;
  const { turn, parts } = piece.data;
  const last = turns.at(-1);
  if (last?.turn !== turn) {
    turns.push({ turn, at: certainTime(at), parts });
    return;
  }
  for (const part of parts) {
    const before = last.parts.at(-1);
    if (before?.is_untrusted === part.is_untrusted) before.text += part.text;
    else last.parts.push(part);
  }
}
