import type { Job, OwnedJob } from '../../../client/schema/system.ts';
import { type JobName, jobCatalogue, jobNames } from '../../../core/cadence/job-catalogue.ts';
import type { PollingSettings } from '../../../core/settings.ts';
import { timeText } from '../../../core/text/time-text.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { JobTimer } from '../../../store/tables/job-timers.ts';
import type { ApiProject } from '../api-project.ts';

export function presentJob(job: ReadModel['jobs'][number]): Job {
  return {
    name: job.name,
    kind: job.kind,
    // The clock of a simulation, and jitter, produce fractions.
    interval_ms: Math.round(job.intervalMs),
    is_running: job.isRunning,
    last_run_at: timeText(job.lastRunAt),
    outcome: job.outcome,
    duration_ms: job.durationMs,
    failures: job.failures,
    error: job.error,
    next_due_at: timeText(job.nextDueAt),
    late_ms: job.lateMs,
  };
}

type JobsProject = Pick<ApiProject, 'id' | 'owner' | 'polling'> & {
  readonly tables: { readonly jobTimers: Pick<ApiProject['tables']['jobTimers'], 'list'> };
  read(): Pick<ReadModel, 'jobs' | 'polling'>;
};

/**
 * Every job of the catalogue, of this daemon and of each other daemon on the store. The state in memory wins over the
 * store, because the daemon writes frequent jobs only once a minute.
 */
export async function presentJobs(project: JobsProject): Promise<{
  polling_mode: string;
  jobs: OwnedJob[];
  other_daemons: OwnedJob[];
}> {
  const { owner } = project;
  const timers = await project.tables.jobTimers.list(project.id);
  const { jobs: live, polling } = project.read();
  const others = timers.filter((timer) => timer.owner !== '' && timer.owner !== owner);
  return {
    // Only a running daemon knows which mode an adaptive poll is in.
    polling_mode: live.length === 0 ? project.polling().mode : polling.mode,
    jobs: jobNames.map((name) => {
      const ofJob = timers.filter(({ job }) => job === name);
      const own = ofJob.find((timer) => timer.owner === owner) ?? ofJob.find((timer) => timer.owner === '');
      const found = live.find((job) => job.name === name);
      return {
        ...fromStore(name, own, project.polling()),
        ...(found === undefined ? {} : presentJob(found)),
        owner: own?.owner ?? null,
      };
    }),
    other_daemons: jobNames.flatMap((name) =>
      others.filter(({ job }) => job === name).map((timer) => fromStore(name, timer, project.polling())),
    ),
  };
}

function fromStore(name: JobName, timer: JobTimer | undefined, polling: PollingSettings): OwnedJob {
  return {
    name,
    kind: jobCatalogue[name].kind,
    description: jobCatalogue[name].description,
    interval_ms: intervalOf(name, polling),
    owner: timer?.owner ?? null,
    is_running: null,
    last_run_at: timeText(timer?.lastRunAt ?? null),
    outcome: timer?.outcome ?? null,
    duration_ms: timer?.durationMs ?? null,
    failures: timer?.failures ?? 0,
    error: timer?.error ?? null,
    next_due_at: timeText(timer?.nextDueAt ?? null),
    late_ms: 0,
  };
}

function intervalOf(name: JobName, polling: PollingSettings): number | null {
  const set = polling.jobIntervalsMs[name];
  if (set !== undefined) return set;
  if (name === 'tracker_poll' && polling.mode === 'fixed') return polling.intervalMs;
  return jobCatalogue[name].intervalMs;
}
