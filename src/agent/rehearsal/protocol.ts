import * as z from 'zod';
import { parseJson } from '../../core/text/parse-json.ts';

/**
 * The messages between Baton and the rehearsal program: one JSON object a line, like the real agents. Baton names the
 * thread once, then sends turns, messages of people, and answers to tool calls and questions. The program
 * identifies itself once, then reports what it does and how each turn ended.
 */
export const fromBaton = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), thread_id: z.string().nullable() }),
  z.object({ type: z.literal('turn'), prompt: z.string() }),
  z.object({ type: z.literal('steer'), text: z.string() }),
  z.object({ type: z.literal('tool_answer'), id: z.int(), success: z.boolean(), output: z.string() }),
  /** Null: no answer will come. Empty: a person declined to answer. */
  z.object({ type: z.literal('answer'), id: z.int(), text: z.string().nullable() }),
]);

export const fromProgram = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), thread_id: z.string(), is_resumed: z.boolean() }),
  z.object({ type: z.literal('message'), text: z.string() }),
  z.object({ type: z.literal('usage'), input_tokens: z.int().min(0), output_tokens: z.int().min(0) }),
  z.object({ type: z.literal('tool_call'), id: z.int(), name: z.string(), input: z.unknown() }),
  z.object({ type: z.literal('ask'), id: z.int(), text: z.string(), options: z.array(z.string()) }),
  /** With the last thing it said in the turn. */
  z.object({ type: z.literal('turn_completed'), message: z.string().optional() }),
  z.object({ type: z.literal('turn_failed'), message: z.string() }),
  z.object({ type: z.literal('out_of_quota'), back_after_ms: z.int().min(0) }),
  z.object({ type: z.literal('out_of_context'), kind: z.enum(['token', 'context']) }),
  z.object({ type: z.literal('logged_out'), message: z.string() }),
  z.object({ type: z.literal('input_required'), question: z.string() }),
]);

export type FromBaton = z.infer<typeof fromBaton>;
export type FromProgram = z.infer<typeof fromProgram>;

/** A message as it goes over the pipe. */
export function encode(message: FromBaton | FromProgram): string {
  return `${JSON.stringify(message)}\n`;
}

/** The message on a line, or null when the line is not one. */
export function decode<Message>(schema: z.ZodType<Message>, line: string): Message | null {
  try {
    const parsed = schema.safeParse(parseJson(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
