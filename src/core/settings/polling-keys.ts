import { type JobName, jobCatalogue, jobNames } from '../cadence/job-catalogue.ts';
import { choice, type Setting, setting } from './setting.ts';

/** The section `polling`: how often the tracker is asked, and how many requests that may cost. */
export const pollingKeys = {
  mode: setting(choice('fixed', 'adaptive'), 'fixed', 'next tick', 'open', {
    description: '`fixed`: a poll every `polling.interval_ms`. `adaptive`: by how long ago something last happened.',
  }),
  interval_ms: setting('positive_integer', 30_000, 'next tick', 'open', {
    description: 'Time from one poll to the next in the mode `fixed`.',
  }),
  active_interval_ms: setting('positive_integer', 15_000, 'next tick', 'open', {
    description: 'The same in the mode `adaptive` while things happen.',
  }),
  idle_interval_ms: setting('positive_integer', 60_000, 'next tick', 'open', {
    description: 'The same when nothing has happened for `polling.idle_after_ms`.',
  }),
  dormant_interval_ms: setting('positive_integer', 300_000, 'next tick', 'open', {
    description:
      'The same when nothing has happened for `polling.dormant_after_ms`, and in quiet hours. Also the longest pause after failed polls.',
  }),
  idle_after_ms: setting('positive_integer', 600_000, 'next tick', 'open', {
    description: 'How long after the last activity the pace is idle (10 minutes).',
  }),
  dormant_after_ms: setting('positive_integer', 3_600_000, 'next tick', 'open', {
    description:
      'How long after the last activity the pace is dormant (1 hour). Must be more than `polling.idle_after_ms`.',
  }),
  quiet_hours: setting('quiet_hours', null, 'next tick', 'open', {
    description: 'Hours in which an adaptive Baton is dormant whatever happens.',
  }),
  time_zone: setting('time_zone', null, 'next tick', 'open', {
    description: 'The time zone of the quiet hours.',
    defaultText: 'that of the machine',
  }),
  freshness_ms: setting('natural_number', 1000, 'next tick', 'open', {
    description:
      'An issue that was read within this time is not read again before it is started. 0: every start reads it.',
  }),
  budget: {
    requests_per_hour: setting('request_allowance', null, 'next request', 'open', {
      description: 'How many requests each provider may get in any hour.',
    }),
    requests_per_day: setting('request_allowance', null, 'next request', 'open', {
      description: 'How many requests each provider may get in a UTC day.',
    }),
  },
};

/** Jobs whose interval is a setting of its own; the poll has its modes instead. */
export type TimedJob = Exclude<JobName, 'tracker_poll'>;

export const timedJobs = jobNames.filter((name): name is TimedJob => name !== 'tracker_poll');

/** The section `polling.jobs`: one key for each job of the catalogue. */
export const jobKeys: { readonly [job: string]: { readonly interval_ms: Setting<number> } } = Object.fromEntries(
  timedJobs.map((job) => {
    const { intervalMs, description } = jobCatalogue[job];
    return [
      job,
      {
        interval_ms: setting('job_interval', intervalMs, 'next tick', 'open', {
          description: `How often this job runs: ${description}.`,
        }),
      },
    ];
  }),
);
