import { type JobName, jobCatalogue, jobNames } from '../../core/cadence/job-catalogue.ts';
import { quietHoursText } from '../../core/cadence/quiet-hours.ts';
import { type Setting, setting } from './setting.ts';
import {
  jobInterval,
  naturalNumber,
  pollingMode,
  positiveInteger,
  quietHours,
  requestAllowance,
  timeZoneName,
} from './setting-types.ts';

/** Jobs whose interval is a setting of its own; the poll has its modes instead. */
export type TimedJob = Exclude<JobName, 'tracker_poll'>;

export const timedJobs = jobNames.filter((name): name is TimedJob => name !== 'tracker_poll');

type JobKey = `polling.jobs.${TimedJob}.interval_ms`;

function jobSetting(job: TimedJob): Setting<number, number> {
  const { intervalMs, description } = jobCatalogue[job];
  return setting(jobInterval, intervalMs, `Time from one look to the next: ${description}.`, {
    effective: ({ polling }) => polling.jobIntervalsMs[job] ?? intervalMs,
  });
}

/** The keys of the section `polling`: how often what is looked at, and how many requests that may cost. */
export const pollingTable = {
  'polling.mode': setting(pollingMode, 'fixed' as const, 'Whether polls come evenly, or by how much happens.', {
    effective: ({ polling }) => polling.mode,
  }),
  'polling.interval_ms': setting(positiveInteger, 30_000, 'Time from one poll to the next in the mode `fixed`.', {
    effective: ({ polling }) => polling.intervalMs,
  }),
  'polling.active_interval_ms': setting(positiveInteger, 15_000, 'The same in `adaptive` while things happen.', {
    effective: ({ polling }) => polling.adaptive.activeIntervalMs,
  }),
  'polling.idle_interval_ms': setting(positiveInteger, 60_000, 'The same when nothing has happened for a while.', {
    effective: ({ polling }) => polling.adaptive.idleIntervalMs,
  }),
  'polling.dormant_interval_ms': setting(
    positiveInteger,
    300_000,
    'The same when nothing has happened for long, and in quiet hours.',
    { effective: ({ polling }) => polling.adaptive.dormantIntervalMs },
  ),
  'polling.idle_after_ms': setting(positiveInteger, 600_000, 'So long after the last activity it is idle.', {
    effective: ({ polling }) => polling.adaptive.idleAfterMs,
  }),
  'polling.dormant_after_ms': setting(positiveInteger, 3_600_000, 'So long after the last activity it is dormant.', {
    effective: ({ polling }) => polling.adaptive.dormantAfterMs,
  }),
  'polling.quiet_hours': setting(quietHours, null, 'When it is dormant whatever happens, such as `22:00-06:00`.', {
    effective: ({ polling }) => (polling.quietHours === null ? null : quietHoursText(polling.quietHours)),
  }),
  'polling.time_zone': setting(timeZoneName, null, 'The time zone of the quiet hours, such as `Europe/Berlin`.', {
    defaultText: 'that of the machine',
    effective: ({ timeZone }) => timeZone,
  }),
  'polling.freshness_ms': setting(naturalNumber, 1000, 'An issue that was read within this time counts as just read.', {
    effective: ({ polling }) => polling.freshnessMs,
  }),
  'polling.budget.requests_per_hour': setting(
    requestAllowance,
    null,
    'How many requests each provider may get in any hour: a number, or numbers by provider.',
    { effective: ({ polling }) => polling.budget.requestsPerHour },
  ),
  'polling.budget.requests_per_day': setting(requestAllowance, null, 'The same for a UTC day.', {
    effective: ({ polling }) => polling.budget.requestsPerDay,
  }),
  // Every job has its row, which a type cannot see.
  ...(Object.fromEntries(timedJobs.map((job) => [`polling.jobs.${job}.interval_ms`, jobSetting(job)])) as Record<
    JobKey,
    Setting<number, number>
  >),
};
