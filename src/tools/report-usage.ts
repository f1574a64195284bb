import * as z from 'zod';
import { BatonError } from '../core/baton-error.ts';
import { defineTool } from './tool.ts';

const count = z.number().int().min(0).max(1e12);

/** Counts what the program of a run used, for agents whose usage Baton cannot see. */
export const reportUsage = defineTool({
  name: 'report_usage',
  description:
    'Report what this run has used of a model so far, as running totals. Limits on tokens and dollars count it. ' +
    'Lower figures than those of an earlier report change nothing.',
  changesTracker: false,
  input: z.strictObject({
    input_tokens: count.default(0),
    cached_input_tokens: count.optional().describe('The part of the input that was read from a cache.'),
    output_tokens: count.default(0),
    cost_usd: z.number().min(0).max(1e6).optional().describe('Without it, the price of the model gives the cost.'),
    model: z.string().trim().min(1).max(200).optional(),
  }),
  run: async (used, { onUsage }) => {
    if (onUsage === undefined)
      throw new BatonError('unsupported_tool_call', 'Baton sees the usage of this agent itself.');
    onUsage({
      inputTokens: used.input_tokens,
      outputTokens: used.output_tokens,
      ...(used.cached_input_tokens === undefined ? {} : { cachedInputTokens: used.cached_input_tokens }),
      ...(used.cost_usd === undefined ? {} : { costMicroUsd: used.cost_usd * 1_000_000 }),
      ...(used.model === undefined ? {} : { model: used.model }),
    });
    return 'Counted.';
  },
});
