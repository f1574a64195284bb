import * as z from 'zod';
import { author, count, text, textOrNone, time } from './common.ts';
import { deliveryStatus, message } from './message.ts';

/** An issue of Baton's own board, with everything that people can change. Other issues are named by identifier. */
export const boardIssue = z.object({
  identifier: text,
  id: text,
  title: text,
  status: text,
  priority: count.nullable(),
  labels: z.array(text),
  description: textOrNone,
  parent: textOrNone,
  blocked_by: z.array(z.object({ identifier: text, status: text })),
  branch: textOrNone,
  url: textOrNone,
  created_at: time,
  updated_at: time,
});

/** Every status, with the number of its issues and the newest of them. */
export const boardColumns = z.object({
  columns: z.array(z.object({ status: text, count, issues: z.array(boardIssue) })),
});

export const boardIssues = z.object({
  issues: z.array(boardIssue),
  /** Whether there are more than were asked for. */
  more: z.boolean(),
});

const related = z.object({ identifier: text, status: text, title: text });

export const boardDetail = z.object({
  issue: boardIssue,
  parent: related.nullable(),
  children: z.array(related),
  /** The issues that wait for it. */
  blocks: z.array(related),
  comments: z.array(z.object({ seq: count, at: time, author, body: text, status: deliveryStatus.nullable() })),
  history: z.array(
    z.object({
      seq: count,
      at: time,
      author,
      /** A field, `status`, or `created`. */
      field: text,
      from: z.unknown(),
      to: z.unknown(),
      reason: textOrNone,
    }),
  ),
  /** The latest words for its agents, the oldest first. */
  messages: z.array(message),
  /** What agents ask about it, the oldest first. */
  open_questions: z.array(z.object({ id: text, kind: text, text, asked_at: time })),
  last_run: z
    .object({
      run_id: text,
      outcome: textOrNone,
      error_message: textOrNone,
      started_at: time,
      branch: textOrNone,
      /** How it ended, as text. */
      text,
      /** Where its work is, as text. */
      work: textOrNone,
    })
    .nullable(),
});

export const boardImport = z.strictObject({
  format: z.enum(['jsonl', 'markdown']),
  /** The file, in base64. */
  content: text,
  reason: text.max(2_000).optional(),
});

/** `known`: issues that an earlier import created. */
export const importedIssues = z.object({ created: z.array(boardIssue), known: z.array(boardIssue) });

export type BoardIssue = z.output<typeof boardIssue>;
export type BoardColumns = z.output<typeof boardColumns>;
export type BoardIssues = z.output<typeof boardIssues>;
export type BoardDetail = z.output<typeof boardDetail>;
export type BoardImport = z.output<typeof boardImport>;
export type ImportedIssues = z.output<typeof importedIssues>;
