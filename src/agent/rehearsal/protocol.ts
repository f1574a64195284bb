import { z } from 'zod';

/**
 * What Baton and the rehearsal program say to each other: one JSON object a line, like the real agents. Baton sends a
 * turn and the answers to tool calls; the program says who it is once, then what it does, and how each turn ended.
 */
export const fromBaton = z.discriminatedUnion('type', [
  z.object({ type: z.literal('turn'), prompt: z.string() }),
  z.object({ type: z.literal('tool_answer'), id: z.int(), success: z.boolean(), output: z.string() }),
]);

export const fromProgram = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), thread_id: z.string() }),
  z.object({ type: z.literal('message'), text: z.string() }),
  z.object({ type: z.literal('usage'), input_tokens: z.int().min(0), output_tokens: z.int().min(0) }),
  z.object({ type: z.literal('tool_call'), id: z.int(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal('turn_completed') }),
  z.object({ type: z.literal('turn_failed'), message: z.string() }),
  z.object({ type: z.literal('input_required'), question: z.string() }),
]);

export type FromBaton = z.infer<typeof fromBaton>;
export type FromProgram = z.infer<typeof fromProgram>;

/** A message as it goes over the pipe. */
export function encode(message: FromBaton | FromProgram): string {
  return `${JSON.stringify(message)}\n`;
}

/** The message on a line, or null when it is none. */
export function decode<Message>(schema: z.ZodType<Message>, line: string): Message | null {
  try {
    const parsed = schema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
