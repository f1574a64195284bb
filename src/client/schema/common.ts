import { z } from 'zod';

/** UTC, with milliseconds. */
export const time = z.iso.datetime();
export const timeOrNone = time.nullable();
export const text = z.string();
export const textOrNone = z.string().nullable();
export const count = z.int().nonnegative();

/** Which issue something is about. */
export const issueName = z.object({ issue_id: text, issue_identifier: text });

export const tokens = z.object({ input_tokens: count, output_tokens: count, total_tokens: count });

/** What was used, in all its parts. */
export const usage = tokens.extend({
  cached_input_tokens: count,
  reasoning_tokens: count,
  cost_usd: z.number().nonnegative(),
});

export type Usage = z.output<typeof usage>;

/** Why something is not done: a word for programs and a sentence for people. */
export const reason = z.object({ code: text, text });

export const refusal = z.object({
  error: z.object({
    code: text,
    message: text,
    /** What to do next, where there is something. */
    next_step: text.optional(),
    details: z.record(text, z.unknown()).optional(),
    /** Of a request that does not fit: where, and what would. */
    problems: z.array(z.object({ at: text, problem: text })).optional(),
    request_id: text.optional(),
  }),
});

/** From the page before; missing on the first. */
export const pageQuery = z.object({
  cursor: text.max(500).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
/** For the next page; null at the end. */
export const nextPage = z.string().nullable();

export const author = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('person'), name: text }),
  z.object({ kind: z.literal('run'), run_id: text }),
  z.object({ kind: z.literal('orchestrator') }),
]);
