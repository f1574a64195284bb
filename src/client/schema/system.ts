import * as z from 'zod';
import { count, issueName, reason, text, textOrNone, time, timeOrNone, usage } from './common.ts';

export const project = z.object({
  name: text,
  tracker: text,
  /** Whether its issues are on Baton's own board, so that they can be moved and edited here. */
  has_board: z.boolean(),
  /** The columns, in order. */
  states: z.array(z.object({ name: text, kind: z.enum(['active', 'terminal', 'other']) })),
  workflow_path: text,
  version: text,
});
export const projectList = z.object({ projects: z.array(project) });

export const queue = z.object({
  /** In the order in which they would start. */
  candidates: z.array(
    issueName.extend({
      title: text,
      state: text,
      priority: count.nullable(),
      /** Null: it starts at the next opportunity. */
      reason: reason.nullable(),
      next_check_at: timeOrNone,
    }),
  ),
  next_poll_at: timeOrNone,
});

export const job = z.object({
  name: text,
  kind: z.enum(['local', 'remote']),
  /** Null when it depends on the polling mode, and no daemon reports the mode. */
  interval_ms: count.nullable(),
  /** Null when no daemon reports it. */
  is_running: z.boolean().nullable(),
  last_run_at: timeOrNone,
  outcome: z.enum(['ok', 'failed']).nullable(),
  duration_ms: z.number().nullable(),
  failures: count,
  error: textOrNone,
  next_due_at: timeOrNone,
  late_ms: z.number(),
});
/** A job in the store: of one daemon or, with an empty `owner`, one that any daemon does for all. */
const ownedJob = job.extend({ owner: textOrNone, description: text });
export const jobList = z.object({
  polling_mode: text,
  /** One row for each job of this daemon. */
  jobs: z.array(ownedJob),
  /** The jobs of other daemons on the same store. */
  other_daemons: z.array(ownedJob),
});

const allowance = z.union([z.number(), z.record(text, z.number())]).nullable();
const amounts = {
  requests: count,
  failed: count,
  bytes: count,
  /** Null when nothing was sent. */
  mean_latency_ms: z.number().nullable(),
};

export const requestReport = z.object({
  hours: count,
  budget: z.object({ requests_per_hour: allowance, requests_per_day: allowance }),
  providers: z.array(
    z.object({
      provider: text,
      ...amounts,
      budgets: z.array(z.object({ name: text, limit: z.number(), used: count, per_cent: z.number(), step: text })),
      last_hour: count,
      today: count,
      rate_per_hour: z.number(),
      projected_today: z.number(),
      step: text,
      text,
      until: timeOrNone,
      windows: z.array(
        z.object({ name: text, source: text, limit: z.number(), used: z.number(), reset_at: timeOrNone }),
      ),
    }),
  ),
  spenders: z.array(
    z.object({
      provider: text,
      job: text,
      cause: text,
      route: text,
      ...amounts,
      mean_latency_ms: z.number(),
    }),
  ),
});

export const usageReport = z.object({
  from_day: text,
  to_day: text,
  total: usage.extend({ runs: count }),
  by_day: z.array(usage.extend({ day: text, runs: count })),
  by_role: z.array(usage.extend({ role: text, runs: count })),
  /** The issues that used the most, at most one page. */
  by_issue: z.array(issueName.extend(usage.shape).extend({ title: textOrNone, runs: count })),
});

const setting = z.object({ key: text, value: z.unknown(), origin: text });
export const configuration = z.object({
  path: text,
  revision: text,
  settings: z.array(setting),
  /** What is wrong with the current file; then the settings are those of the last good reading. */
  problem: reason.nullable(),
  warnings: z.array(reason),
});

export const finding = z.object({
  code: text,
  issue_id: textOrNone,
  issue_identifier: textOrNone,
  text,
  since: timeOrNone,
});

export const health = z.object({
  version: text,
  started_at: time,
  is_healthy: z.boolean(),
  problems: z.array(reason),
  tick: z
    .object({
      number: count,
      started_at: time,
      duration_ms: z.number(),
      steps: z.array(z.object({ step: text, duration_ms: z.number(), error: textOrNone })),
    })
    .nullable(),
  loop_delay_ms: z.object({ p50: z.number(), p99: z.number(), max: z.number() }),
  memory_mb: z.number(),
  store: z.object({ engine: z.enum(['sqlite', 'postgres']) }),
  findings: z.array(finding),
});

export const salvage = z.object({
  saved: z.array(
    z.object({
      name: text,
      issue_identifier: textOrNone,
      at: timeOrNone,
      files: count,
      commits: count,
      restore: text,
    }),
  ),
});

export const found = z.object({
  results: z.array(
    issueName.extend({
      kind: z.enum(['issue', 'transcript']),
      title: textOrNone,
      /** The words around the match. */
      excerpt: text,
      run_id: textOrNone,
      seq: count.nullable(),
      at: timeOrNone,
    }),
  ),
  /** The search was cut off before it had read everything. */
  is_cut: z.boolean(),
});

export type Project = z.output<typeof project>;
export type Queue = z.output<typeof queue>;
export type Job = z.output<typeof job>;
export type OwnedJob = z.output<typeof ownedJob>;
export type Finding = z.output<typeof finding>;
export type RequestReport = z.output<typeof requestReport>;
export type UsageReport = z.output<typeof usageReport>;
export type Configuration = z.output<typeof configuration>;
export type Health = z.output<typeof health>;
export type Salvage = z.output<typeof salvage>;
export type Found = z.output<typeof found>;
