import { type JobKind, type JobName, jobCatalogue, jobNames } from '../../core/cadence/job-catalogue.ts';
import type { PollingSettings } from '../../core/settings.ts';
import type { JobTimer } from '../../store/tables/job-timers.ts';

/** What a daemon says of one of its jobs. */
export interface DaemonJob {
  readonly name: string;
  readonly kind: JobKind;
  readonly interval_ms: number | null;
  readonly is_running: boolean;
  readonly last_run_at: string | number | null;
  readonly outcome: JobTimer['outcome'];
  readonly duration_ms: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly next_due_at: string | number | null;
}

/** A job of one daemon, or one that any daemon does for all. */
export interface JobRow {
  readonly name: JobName;
  readonly kind: JobKind;
  /** Null: by the polling mode, which only a daemon knows. */
  readonly intervalMs: number | null;
  /** Empty: any daemon's. Null: nobody's yet. */
  readonly owner: string | null;
  readonly isOwn: boolean;
  /** Null where no daemon says so. */
  readonly isRunning: boolean | null;
  readonly lastRunAt: number | null;
  readonly outcome: JobTimer['outcome'];
  readonly durationMs: number | null;
  readonly failures: number;
  readonly error: string | null;
  readonly nextDueAt: number | null;
}

export interface JobFacts {
  /** Of every daemon on the store. */
  readonly timers: readonly JobTimer[];
  /** Whose timers are those of the daemon asked about; null where none was ever started here. */
  readonly owner: string | null;
  /** Null where the workflow file cannot be read. */
  readonly polling: PollingSettings | null;
  /** Null where no daemon answers. */
  readonly daemonJobs: readonly DaemonJob[] | null;
}

/** Every job of the catalogue: of this daemon, and after it of each other one. What the daemon itself says counts for more. */
export function jobRows(facts: JobFacts): JobRow[] {
  return jobNames.flatMap((name) => {
    const timers = facts.timers.filter(({ job }) => job === name);
    const mine = timers.find(({ owner }) => owner === facts.owner) ?? timers.find(({ owner }) => owner === '');
    const others = timers.filter(({ owner }) => owner !== '' && owner !== facts.owner);
    const told = facts.daemonJobs?.find((job) => job.name === name);
    const intervalMs = told?.interval_ms ?? intervalOf(name, facts.polling);
    const base = { ...blank, name, kind: told?.kind ?? jobCatalogue[name].kind, intervalMs };
    const own = { ...base, ...fromTimer(mine), ...fromDaemon(told), owner: mine?.owner ?? null, isOwn: true };
    const rest = others.map((timer) => ({ ...base, ...fromTimer(timer), owner: timer.owner }));
    // Who only looks at what others do, and never had a daemon here, sees no empty row beside theirs.
    return mine === undefined && told === undefined && rest.length > 0 ? rest : [own, ...rest];
  });
}

const blank = {
  ...{ owner: null, isOwn: false, isRunning: null, lastRunAt: null, outcome: null },
  ...{ durationMs: null, failures: 0, error: null, nextDueAt: null },
} as const;

function intervalOf(name: JobName, polling: PollingSettings | null): number | null {
  const set = polling?.jobIntervalsMs[name];
  if (set !== undefined) return set;
  if (name === 'tracker_poll' && polling?.mode === 'fixed') return polling.intervalMs;
  return jobCatalogue[name].intervalMs;
}

function fromTimer(timer: JobTimer | undefined): Partial<JobRow> {
  if (timer === undefined) return {};
  const { lastRunAt, outcome, durationMs, failures, error, nextDueAt } = timer;
  return { lastRunAt, outcome, durationMs, failures, error, nextDueAt };
}

function fromDaemon(job: DaemonJob | undefined): Partial<JobRow> {
  if (job === undefined) return {};
  const { outcome, failures, error } = job;
  return {
    ...{ outcome, failures, error, isRunning: job.is_running, durationMs: job.duration_ms },
    ...{ lastRunAt: timeOf(job.last_run_at), nextDueAt: timeOf(job.next_due_at) },
  };
}

function timeOf(told: string | number | null): number | null {
  const at = typeof told === 'string' ? Date.parse(told) : told;
  return at === null || Number.isNaN(at) ? null : at;
}
