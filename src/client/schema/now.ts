import * as z from 'zod';
import { taskKinds } from '../../core/task/task.ts';
import { count, issueName, reason, text, textOrNone, timeOrNone, usage } from './common.ts';
import { phaseOfRow } from './pipeline.ts';

/**
 * The state of a project at one instant, as the Now screen, the terminal view and the event stream show it. Each row
 * has a `key` that stays the same while the row exists. The stream sends a row again when anything in it changes.
 */
const row = issueName.extend({
  key: text,
  title: textOrNone,
  issue_url: textOrNone,
  /** Absent where the issue is not in the pipeline. */
  phase: phaseOfRow.optional(),
});

/** Something that waits for a person, with the commands that help. */
export const needsYou = row.extend({
  /** Null when the row is not about an issue but about an account, a limit of the day, or Baton itself. */
  issue_id: textOrNone,
  issue_identifier: textOrNone,
  kind: z.enum(['question', 'held', 'limit', 'review', 'account', 'workflow', 'daemon', 'proposal']),
  /** For programs: the error code or another code, such as `person`. */
  code: text,
  /** What happened and why it waits, as a sentence. */
  reason: text,
  since: timeOrNone,
  run_id: textOrNone,
  question_id: textOrNone,
  /** Until when an agent waits for the person; null when no agent waits. */
  waits_until: timeOrNone,
  /** The names of the useful commands, the best one first; `resume` and `reload` apply to the whole project. */
  actions: z.array(text),
  /** Files of its published change that control agents or CI: read them before you merge. Null: unreadable; absent: none. */
  governing: z.array(text).nullable().optional(),
  /** For `review`: the number of its pull request; absent where it has none. */
  pull: count.optional(),
  /** For `reload`: the content of the workflow file that the row is about. */
  revision: text.optional(),
});

export const runningRow = row.extend({
  state: text,
  run_id: text,
  /** `worker`, or `judge` for an agent that reviews the change of the issue. */
  role: text.optional(),
  attempt: count.nullable(),
  stage: text,
  turn: count,
  session_id: textOrNone,
  workspace_path: textOrNone,
  pid: count.nullable(),
  started_at: timeOrNone,
  last_event: textOrNone,
  last_message: textOrNone,
  last_event_at: timeOrNone,
  usage,
  /** The name of its agent in the workflow file; `default` is the section `agent`. */
  agent: text,
  account: textOrNone,
  waits_for_person: z.boolean(),
  /** False: the agent takes no messages until the run ends, and `issue_steer` would be refused. */
  can_steer: z.boolean().optional(),
  /** The hold that follows this run; absent where none does. `issue_release` removes it. */
  hold_afterwards: reason.optional(),
  warnings: z.array(z.object({ limit: text, level: z.enum(['warning', 'reached']), text })),
});

export const waitingRow = row.extend({
  kind: z.enum(['retry', 'quota', 'queue']),
  state: textOrNone,
  /** Absent where it has none; with it, rows can be sorted as they start. */
  priority: count.optional(),
  attempt: count.nullable(),
  /** Why it waits, as a sentence. */
  reason: text,
  code: textOrNone,
  /** When it is checked next. */
  next_check_at: timeOrNone,
});

export const finishedRow = row.extend({ state: text, at: timeOrNone });

export const accountRow = z.object({
  key: text,
  backend: text,
  name: text,
  unavailable_until: timeOrNone,
  unavailable_because: z.enum(['quota', 'auth']).nullable(),
  /** Why nothing starts on it; null when it is ready. */
  waits_for: textOrNone,
  windows: z.array(
    z.object({ name: text, used_percent: z.number(), window_minutes: z.number().nullable(), resets_at: timeOrNone }),
  ),
});

/** The summary at the top: the problems of Baton, and how much of its limits is left. */
export const vitals = z.object({
  started_at: timeOrNone,
  paused: z.object({ kind: z.enum(['pause', 'drain']), since: timeOrNone, reason: textOrNone }).nullable(),
  slots: z.object({
    /** With judges. */
    used: count,
    limit: count,
    /** Of those that run, and the slots for them alone, beyond the limit. Absent where the file has no judge. */
    judges: z.object({ used: count, limit: count }).optional(),
  }),
  today: z.object({
    tokens: count,
    cost_usd: z.number(),
    token_limit: count.nullable(),
    cost_limit_usd: z.number().nullable(),
    /** The roles that have a budget of their own for the day; absent where none has. */
    roles: z
      .array(
        z.object({
          role: text,
          runs: count,
          runs_limit: count.nullable(),
          cost_usd: z.number(),
          cost_limit_usd: z.number().nullable(),
          /** No further run of it starts today. */
          used_up: z.boolean(),
        }),
      )
      .optional(),
  }),
  polling: z.object({
    mode: text,
    interval_ms: count,
    next_poll_at: timeOrNone,
    is_polling: z.boolean(),
    quiet_until: timeOrNone,
    failures: count,
  }),
  budget: z.object({ step: text, text, until: timeOrNone }),
  /** The agents that a person can choose among for a retry; absent where the file has only one. */
  agents: z.array(text).optional(),
  /** The agent of each kind of task; absent where the file has only one. */
  task_agents: z.record(z.enum(taskKinds), text).optional(),
  /** The phases of the pipeline, `ready` last; absent where there is none. */
  phases: z.array(text).optional(),
  /** The problems of Baton; empty when there are none. */
  problems: z.array(reason),
});

export const now = z.object({
  project: text,
  generated_at: timeOrNone,
  vitals,
  needs_you: z.array(needsYou),
  running: z.array(runningRow),
  waiting: z.array(waitingRow),
  finished: z.array(finishedRow),
  accounts: z.array(accountRow),
});

/** The lists of `now` that consist of rows. */
export const rowLists = ['needs_you', 'running', 'waiting', 'finished', 'accounts'] as const;

export type Now = z.output<typeof now>;
export type NeedsYou = z.output<typeof needsYou>;
export type RunningRow = z.output<typeof runningRow>;
export type WaitingRow = z.output<typeof waitingRow>;
export type FinishedRow = z.output<typeof finishedRow>;
export type AccountRow = z.output<typeof accountRow>;
export type Vitals = z.output<typeof vitals>;
export type RowList = (typeof rowLists)[number];
