import * as z from 'zod';
import { count, issueName, text, textOrNone, timeOrNone, tokens } from './common.ts';
import { accountRow, runningRow, vitals } from './now.ts';
import { phaseOfRow } from './pipeline.ts';
import { finding, job } from './system.ts';

/** An error with its code, as far as other programs need it. */
const problem = z.object({
  code: text,
  message: text,
  next_step: text.optional(),
  details: z.record(text, z.unknown()).optional(),
});

/** Absent where the issue is not in the pipeline. */
const inPhase = { phase: phaseOfRow.optional() };

const retry = issueName.extend({
  ...inPhase,
  issue_url: textOrNone,
  kind: text,
  attempt: count.nullable(),
  due_at: timeOrNone,
  error: textOrNone,
  /** Why the retry that is due cannot start yet. */
  wait_reason: textOrNone,
  wait_code: textOrNone,
});

/**
 * The state of a project at one instant, for programs: what `baton status --json` prints. The names are those of
 * Symphony's specification (13.7) where it has one.
 */
export const status = z.object({
  generated_at: timeOrNone,
  started_at: timeOrNone,
  /** The HTTP address of the dashboard and the API; null when there is none. */
  api: textOrNone,
  paused: vitals.shape.paused,
  counts: z.object({ running: count, retrying: count, held: count, questions: count, skipped: count }),
  /** Commands that have not been carried out yet; counted up to a hundred. */
  waiting_commands: count,
  slots: vitals.shape.slots,
  running: z.array(runningRow),
  retrying: z.array(retry),
  waiting_quota: z.array(retry),
  held: z.array(issueName.extend({ ...inPhase, code: text, reason: text, since: timeOrNone, run_id: textOrNone })),
  questions: z.array(
    issueName.extend({ id: text, run_id: text, kind: text, text, asked_at: timeOrNone, waits_until: timeOrNone }),
  ),
  /** Changes that wait for a person; `pull` is the number of the pull request, null where it has none. */
  reviews: z.array(issueName.extend({ pull: count.nullable(), title: textOrNone, reason: text, since: timeOrNone })),
  accounts: z.array(accountRow.extend({ reason: textOrNone })),
  skipped: z.array(issueName.extend({ ...inPhase, title: text, state: text, code: text, reason: text })),
  completed: z.array(issueName.extend({ state: text, at: timeOrNone })),
  totals: tokens.extend({ runs: count, runs_by_end: z.record(text, count) }),
  polling: z.object({
    mode: text,
    interval_ms: z.number(),
    last_activity_at: timeOrNone,
    quiet_until: timeOrNone,
    failures: count,
    pressure: z.object({ step: text, spacing_ms: z.number(), until: timeOrNone, text }),
    next_poll_at: timeOrNone,
    poll_check_in_progress: z.boolean(),
    ticks: count,
  }),
  jobs: z.array(job),
  findings: z.array(finding),
  workflow_problem: problem.nullable(),
  /** Changes of the workflow file that wait for a person (`reload`); null when none does. */
  workflow_waiting: z
    .object({
      revision: text,
      since: timeOrNone,
      settings: z.array(z.object({ key: text, before: z.unknown(), after: z.unknown() })),
    })
    .nullable(),
  /** Why nothing new starts on this machine: too little disk or memory. */
  no_headroom: textOrNone,
  /** Why no run can begin, with the code of the error. */
  environment: z.object({ code: text, text }).nullable(),
  errors: z.array(z.object({ step: text, error: problem })),
});

/** How another program changed the store. */
export const storeChange = z.strictObject({ change: z.enum(['written', 'restored']) });
export const storeChangeAnswer = z.object({ accepted: z.boolean() });

export type Status = z.output<typeof status>;
export type StoreChange = z.output<typeof storeChange>['change'];
