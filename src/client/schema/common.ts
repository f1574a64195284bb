import * as z from 'zod';

/** UTC, with milliseconds. */
export const time = z.iso.datetime();
export const timeOrNone = time.nullable();
export const text = z.string();
export const textOrNone = z.string().nullable();
export const count = z.int().nonnegative();

/** The issue that something is about. */
export const issueName = z.object({ issue_id: text, issue_identifier: text });

export const tokens = z.object({ input_tokens: count, output_tokens: count, total_tokens: count });

/** Usage with all its parts. */
export const usage = tokens.extend({
  cached_input_tokens: count,
  reasoning_tokens: count,
  cost_usd: z.number().nonnegative(),
});

export type Usage = z.output<typeof usage>;

/** Why something is not done: a code for programs and a sentence for people. */
export const reason = z.object({ code: text, text });

export const refusal = z.object({
  error: z.object({
    code: text,
    message: text,
    /** What to do next, if there is anything. */
    next_step: text.optional(),
    details: z.record(text, z.unknown()).optional(),
    /** For a request that does not fit: each place, and what would fit. */
    problems: z.array(z.object({ at: text, problem: text })).optional(),
    request_id: text.optional(),
  }),
});

/** `cursor` comes from the previous page; missing on the first. */
export const pageQuery = z.object({
  cursor: text.max(500).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
/** The cursor of the next page; null at the end. */
export const nextPage = z.string().nullable();

export const author = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('person'), name: text }),
  z.object({ kind: z.literal('run'), run_id: text }),
  z.object({ kind: z.literal('orchestrator') }),
]);
