import * as z from 'zod';
import { count, refusal, text, textOrNone, time, timeOrNone } from './common.ts';
import { run } from './run.ts';

/** An existing workspace, with everything that is known of it. */
export const workspaceRow = z.object({
  /** Null when no run in it is known. */
  issue_id: textOrNone,
  issue_identifier: textOrNone,
  /** Null when the issue is unknown, or the tracker did not answer. */
  state: textOrNone,
  key: text,
  path: text,
  step: z.enum(['whole', 'making', 'removing']),
  /** Null when it could not be seen completely. */
  bytes: count.nullable(),
  changed_at: time,
  pinned: z.boolean(),
  /** The run that started last in it. */
  last_run: z
    .object({ run_id: text, ended_at: timeOrNone, evidence: run.shape.evidence, removal: run.shape.removal })
    .nullable(),
  may_go: z.boolean(),
  /** Why it is not removed now; null when it may go. */
  code: textOrNone,
  /** Why it is still there, as the end of a sentence. */
  reason: text,
});

export const workspaceReport = z.object({
  root: text,
  workspaces: z.array(workspaceRow),
  /** The error of the tracker that kept the states of the issues unknown. */
  problem: refusal.shape.error.nullable(),
});

export type WorkspaceRow = z.output<typeof workspaceRow>;
export type WorkspaceReport = z.output<typeof workspaceReport>;
