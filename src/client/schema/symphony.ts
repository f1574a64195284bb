import * as z from 'zod';
import { count, text, textOrNone, timeOrNone, tokens } from './common.ts';

/**
 * What a program written for Symphony expects, key by key (1.15 of the reference), plus `polling` and `projects`.
 * `blocked` is what Baton calls held; `worker_host` is null, as every run is on the daemon's machine.
 */
const named = { issue_id: text, issue_identifier: text };
const place = { worker_host: textOrNone, workspace_path: textOrNone };
const lastEvent = { last_event: textOrNone, last_message: textOrNone, last_event_at: timeOrNone };

const running = z.object({
  ...named,
  issue_url: textOrNone,
  state: text,
  ...place,
  session_id: textOrNone,
  turn_count: count,
  ...lastEvent,
  started_at: timeOrNone,
  tokens,
});

const retrying = z.object({
  ...named,
  issue_url: textOrNone,
  /** Null when no run failed and the work only continues. */
  attempt: count.nullable(),
  due_at: timeOrNone,
  error: textOrNone,
  ...place,
});

const blocked = z.object({
  ...named,
  issue_url: textOrNone,
  state: textOrNone,
  error: text,
  ...place,
  session_id: textOrNone,
  blocked_at: timeOrNone,
  ...lastEvent,
});

export const symphonyState = z.object({
  generated_at: timeOrNone,
  counts: z.object({ running: count, retrying: count, blocked: count }),
  running: z.array(running),
  retrying: z.array(retrying),
  blocked: z.array(blocked),
  codex_totals: tokens.extend({ seconds_running: count }),
  rate_limits: z.record(text, z.unknown()).nullable(),
  polling: z.array(
    z.object({
      project: text,
      mode: text,
      interval_ms: count,
      next_poll_at: timeOrNone,
      poll_check_in_progress: z.boolean(),
      last_activity_at: timeOrNone,
    }),
  ),
});

/** The response when no project is running. */
export const symphonyNoState = z.object({ generated_at: timeOrNone, error: z.object({ code: text, message: text }) });

export const symphonyIssue = z.object({
  issue_identifier: text,
  issue_id: text,
  status: z.enum(['running', 'retrying', 'blocked']),
  workspace: z.object({ path: textOrNone, host: textOrNone }),
  attempts: z.object({ restart_count: count, current_retry_attempt: count }),
  running: running.omit({ issue_id: true, issue_identifier: true, issue_url: true }).nullable(),
  retry: retrying.omit({ issue_id: true, issue_identifier: true, issue_url: true }).nullable(),
  blocked: blocked.omit({ issue_id: true, issue_identifier: true, issue_url: true }).nullable(),
  logs: z.object({ codex_session_logs: z.array(z.unknown()) }),
  recent_events: z.array(z.object({ at: timeOrNone, event: text, message: textOrNone })),
  last_error: textOrNone,
  tracked: z.record(text, z.unknown()),
});

export const symphonyRefresh = z.object({
  queued: z.literal(true),
  /** A poll was already scheduled, and this request shares it. */
  coalesced: z.boolean(),
  requested_at: timeOrNone,
  operations: z.tuple([z.literal('poll'), z.literal('reconcile')]),
});

export type SymphonyState = z.output<typeof symphonyState>;
export type SymphonyIssue = z.output<typeof symphonyIssue>;
