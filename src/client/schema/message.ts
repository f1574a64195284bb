import * as z from 'zod';
import { author, count, text, textOrNone, time } from './common.ts';

/** `waiting`: the next run gets it, again if an earlier run that had it did not end well. */
export const deliveryStatus = z.enum(['waiting', 'delivered']);

/** Words for the next agent of an issue. */
export const message = z.object({
  id: text,
  at: time,
  /** `note`, `reason`, `review_comment`, `check` or `conflict`. */
  kind: text,
  author,
  /** Its beginning, if it is long. */
  body: text,
  path: textOrNone,
  line: count.nullable(),
  commit: textOrNone,
  status: deliveryStatus,
  /** The last run whose agent received it; null when none did. */
  run_id: textOrNone,
});

export type Message = z.output<typeof message>;
