import * as z from 'zod';
import { author, count, issueName, nextPage, reason, text, textOrNone, time, timeOrNone, usage } from './common.ts';
import { deliveryStatus, message } from './message.ts';
import { issuePipeline, phaseOfRow } from './pipeline.ts';
import { pullStatus } from './pull.ts';
import { question } from './question.ts';
import { run } from './run.ts';

/** An issue as a list shows it. */
export const issueSummary = z.object({
  id: text,
  identifier: text,
  title: text,
  /** The tracker's own name of the state; on the board one of its statuses. */
  state: text,
  priority: count.nullable(),
  labels: z.array(text),
  blockers: z.array(z.object({ id: textOrNone, identifier: textOrNone, state: textOrNone })),
  url: textOrNone,
  created_at: timeOrNone,
  updated_at: timeOrNone,
  /** What Baton is doing with the issue; null when nothing. */
  activity: z.enum(['running', 'retrying', 'held', 'asking']).nullable(),
  /** Why it did not start when it was last checked; null when there is no reason. */
  skipped: reason.nullable(),
});

export const issueList = z.object({
  issues: z.array(issueSummary),
  next: nextPage,
  /** How many issues the whole list has; null after the first page, and for a search of the board. */
  total: count.nullable(),
});

/** Null: the identifier is not known. */
const partName = { issue_id: text, issue_identifier: textOrNone };

/** One rule between an issue and its run, and its result. */
const gate = z.object({ gate: text, passed: z.boolean(), code: textOrNone, text });

export const explanation = z.object({
  gates: z.array(gate),
  /** The first refusal; null when the issue starts. */
  reason: reason.nullable(),
  starts_before: count,
  next_code: text,
  /** What happens next, as a sentence. */
  next: text,
  /** Absent where the issue is not in the pipeline. */
  phase: phaseOfRow.optional(),
  /** Its runs since a person last released it, and how many in a row failed, changed nothing, or left no work product. */
  counts: z.object({ runs: count, failures: count, stale_runs: count, no_signals: count }),
});

/** The explanation together with its issue. */
export const explainedIssue = explanation.extend({
  ...issueName.shape,
  title: text,
  state: text,
  /** The latest words for its agents, the oldest first; also below. */
  messages: z.array(message),
});

export const historyEntry = z.object({
  at: time,
  author,
  /** A field of the issue, `status`, `created`, or the kind of a completed command. */
  what: text,
  from: z.unknown(),
  to: z.unknown(),
  reason: textOrNone,
});

/** `status`: null for a comment that is not sent to agents, such as one of an agent. */
export const comment = z.object({ at: time, author, body: text, status: deliveryStatus.nullable() });

/** A move that a person may make, or why not. */
export const move = z.object({ to: text, is_allowed: z.boolean(), why_not: textOrNone });

export const issueDetail = issueSummary.extend({
  description: textOrNone,
  branch: textOrNone,
  parent_id: textOrNone,
  /** Null when it could not be determined; then `why_unknown` says why. */
  explanation: explanation.nullable(),
  why_unknown: textOrNone,
  /** Empty for an external tracker, which Baton only reads. */
  moves: z.array(move),
  /** The commands that are useful now. */
  actions: z.array(text),
  held: reason.extend({ since: time, run_id: textOrNone }).nullable(),
  retry: z.object({ kind: text, attempt: count.nullable(), due_at: time, error: textOrNone }).nullable(),
  /** Its newest pull request; null when it has none. */
  pull: z.object({ number: count, status: pullStatus }).nullable(),
  /** Null when it is not in the pipeline, or there is none. */
  pipeline: issuePipeline.nullable(),
  /** The parts that a planner split it into; null when it has no plan. */
  plan: z
    .object({
      summary: text,
      at: time,
      /** Whether all of it is in the tracker. */
      is_made: z.boolean(),
      /** Empty: the planner found it small enough. In the order of the work. */
      parts: z.array(z.object({ ...partName, title: text, state: textOrNone })),
    })
    .nullable(),
  /** The issue that a planner split to make this one; null when it is not part of a plan. */
  part_of: z.object(partName).nullable(),
  messages: z.array(message),
  questions: z.array(question),
  /** Newest first; `/runs?issue=` has the older ones. */
  runs: z.array(run),
  history: z.array(historyEntry),
  comments: z.array(comment),
  usage: usage.extend({ runs: count }),
});

export type IssueSummary = z.output<typeof issueSummary>;
export type IssueDetail = z.output<typeof issueDetail>;
export type IssueList = z.output<typeof issueList>;
export type Explanation = z.output<typeof explanation>;
export type ExplainedIssue = z.output<typeof explainedIssue>;
export type HistoryEntry = z.output<typeof historyEntry>;
export type Comment = z.output<typeof comment>;
export type Move = z.output<typeof move>;
