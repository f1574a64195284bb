import * as z from 'zod';
import { count, text, textOrNone, time } from './common.ts';

const ratio = z.number().nullable();

/** A share with the interval that has the true one with 95 % confidence; null without any case. */
export const share = z.object({ count, of: count, low: ratio, high: ratio });

/** The median of `of` values. `range`: too few for an interval, so `low` and `high` are the smallest and the largest. */
const middle = z.object({
  of: count,
  median: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  interval: z.enum(['confidence', 'range']).nullable(),
});

export const promptMeasure = z.object({
  version: text,
  /** Where its text is: a file, a setting, or `built in`. */
  source: text,
  role: text,
  /** Null: all agents together. */
  agent: textOrNone,
  runs: count,
  issues: count,
  first_at: time,
  last_at: time,
  success: share,
  sent_back: share,
  tokens: middle,
  cost_usd: middle,
  to_merge_ms: middle,
});

export const promptList = z.object({
  since: time,
  /** The prompts that runs get now, with the percentage of the issues that get each. */
  in_use: z.array(z.object({ version: text, source: text, role: text, share: count })),
  /** By version, role and agent, the latest used first. */
  prompts: z.array(promptMeasure),
});

const difference = z.enum(['too_few', 'none_seen', 'may_be_chance', 'differs']);

export const promptComparison = z.object({
  since: time,
  a: promptMeasure,
  b: promptMeasure,
  /** Whether both were used at the same time; otherwise something else may have changed too. */
  same_time: z.boolean(),
  differences: z.object({
    success: difference,
    sent_back: difference,
    tokens: difference,
    cost_usd: difference,
    to_merge_ms: difference,
  }),
});

export type PromptMeasure = z.output<typeof promptMeasure>;
export type PromptList = z.output<typeof promptList>;
export type PromptComparison = z.output<typeof promptComparison>;
