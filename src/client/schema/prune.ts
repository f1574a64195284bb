import * as z from 'zod';
import { count, text, textOrNone } from './common.ts';

/** What of one kind is past its retention, or was removed. */
export const pruneRow = z.object({
  kind: text,
  count,
  /** Null when the size is unknown, or says nothing. */
  bytes: count.nullable(),
  /** Why this kind could not be examined or removed. */
  problem: textOrNone,
});

export const pruneReport = z.object({
  rows: z.array(
    pruneRow.extend({ /** The setting that limits the kind, and its value. */ setting: text, value: count }),
  ),
});

export type PruneReport = z.output<typeof pruneReport>;
