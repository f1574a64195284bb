import * as z from 'zod';
import { count, issueName, nextPage, text, textOrNone, time, timeOrNone, usage } from './common.ts';

const gitEvidence = z.object({
  head: textOrNone,
  branch: textOrNone,
  /** Commits beyond the base; null when no base is known. */
  ahead: count.nullable(),
  changed: count,
  untracked: count,
  conflicts: count,
});

export const run = issueName.extend({
  run_id: text,
  role: text,
  /** Of the pipeline; null: none. */
  phase: text.nullable(),
  attempt: count.nullable(),
  retry_kind: textOrNone,
  recovery: textOrNone,
  backend: text,
  /** Its name in the workflow file (`default`: the section `agent`), and why it was chosen. */
  agent: text,
  agent_reason: z.enum(['person', 'role', 'label', 'state', 'default', 'stand_in']),
  /** The version and the place of its prompt; null for a run from before this was recorded. */
  prompt: z.object({ version: text, source: text }).nullable(),
  account: textOrNone,
  host: text,
  pid: count.nullable(),
  workspace_path: textOrNone,
  session_id: textOrNone,
  turns: count,
  started_at: time,
  ended_at: timeOrNone,
  /** Null while the run is in progress. */
  outcome: z
    .enum(['succeeded', 'failed', 'timed_out', 'stalled', 'canceled_by_reconciliation', 'interrupted'])
    .nullable(),
  error_code: textOrNone,
  error_message: textOrNone,
  last_message: textOrNone,
  usage,
  /** What the run left in its workspace, as text and as facts. */
  evidence: z
    .object({
      text,
      changed: z.boolean().nullable(),
      git: gitEvidence.nullable(),
      /** What happened to its branch, as facts; `publication` below says it as text. */
      publication: z.record(text, z.unknown()).nullable(),
    })
    .nullable(),
  publication: textOrNone,
  /** What happened to its workspace; null while it exists. */
  removal: z
    .object({
      at: time,
      /** Null: the workspace was removed. */
      kept_because: textOrNone,
      saved: z.array(z.object({ name: text, files: count, commits: count, restore: text })),
    })
    .nullable(),
});

export const runList = z.object({ runs: z.array(run), next: nextPage });

/** One stage, turn, tool call or question of a run, for the waterfall. */
export const span = z.object({
  kind: z.enum(['stage', 'turn', 'tool', 'question']),
  name: text,
  started_at: time,
  /** Null while it lasts. */
  ended_at: timeOrNone,
  /** Whether it ended well; null while it lasts, or when that is unknown. */
  is_ok: z.boolean().nullable(),
});

export const runDetail = run.extend({
  /** In order; for a long run the first and the last. */
  spans: z.array(span),
  are_spans_cut: z.boolean(),
  /** The command that opens its conversation by hand; null when there is none. */
  resume_command: textOrNone,
});

/** One event: a line of the index or, with `payload`, the whole event. */
export const runEvent = z.object({
  seq: count,
  at: time,
  event: text,
  message: text,
  payload: z.unknown().optional(),
});

export const runEventList = z.object({
  events: z.array(runEvent),
  /** The number to continue from; unchanged when there was nothing new. */
  after: count,
  /** Whether more events are already there. */
  has_more: z.boolean(),
  /** Whether the run had ended before its events were read: then no more will come. */
  run_ended: z.boolean(),
});

/** The prompt of the agent, in parts; parts by untrusted authors are marked. */
export const prompt = z.object({
  turns: z.array(z.object({ turn: count, at: time, parts: z.array(z.object({ text, is_untrusted: z.boolean() })) })),
});

export const diff = z.object({
  /** A commit or a branch to compare with; null when none is known. */
  base: textOrNone,
  head: textOrNone,
  branch: textOrNone,
  files: z.array(
    z.object({
      path: text,
      old_path: textOrNone,
      status: z.enum(['added', 'modified', 'deleted', 'renamed', 'untracked', 'conflict']),
      added: count.nullable(),
      removed: count.nullable(),
      /** The unified diff of the file; null when it is binary or too large. */
      patch: textOrNone,
    }),
  ),
  /** Some files are left out, because there are too many. */
  is_cut: z.boolean(),
  /** Since an earlier round: changes of the base are in it too, because the earlier commit conflicts with the base. */
  includes_base: z.boolean().optional(),
  /** Why there is no diff; null when there is one. */
  why_none: textOrNone,
});

export type Run = z.output<typeof run>;
export type RunDetail = z.output<typeof runDetail>;
export type RunEvent = z.output<typeof runEvent>;
export type Span = z.output<typeof span>;
export type Prompt = z.output<typeof prompt>;
export type Diff = z.output<typeof diff>;
