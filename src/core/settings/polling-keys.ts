import { type JobName, jobCatalogue, jobNames } from '../cadence/job-catalogue.ts';
import { choice, type Setting, setting } from './setting.ts';

/** The section `polling`: how often Baton reads the tracker, and how many requests it may send. */
export const pollingKeys = {
  mode: setting(choice('fixed', 'adaptive'), 'fixed', 'next tick', 'open', {
    description: '`fixed`: a poll every `polling.interval_ms`. `adaptive`: polls become rarer when nothing happens.',
  }),
  interval_ms: setting('positive_integer', 30_000, 'next tick', 'open', {
    description: 'Time between two polls in the mode `fixed`.',
  }),
  active_interval_ms: setting('positive_integer', 15_000, 'next tick', 'open', {
    description: 'Time between two polls in the mode `adaptive` after recent activity.',
  }),
  idle_interval_ms: setting('positive_integer', 60_000, 'next tick', 'open', {
    description: 'Time between two polls when nothing has happened for `polling.idle_after_ms`.',
  }),
  dormant_interval_ms: setting('positive_integer', 300_000, 'next tick', 'open', {
    description:
      'Time between two polls when nothing has happened for `polling.dormant_after_ms`, and in quiet hours. Also the longest pause after failed polls.',
  }),
  idle_after_ms: setting('positive_integer', 600_000, 'next tick', 'open', {
    description: 'How long after the last activity polling becomes idle (10 minutes).',
  }),
  dormant_after_ms: setting('positive_integer', 3_600_000, 'next tick', 'open', {
    description:
      'How long after the last activity polling becomes dormant (1 hour). Must be more than `polling.idle_after_ms`.',
  }),
  quiet_hours: setting('quiet_hours', null, 'next tick', 'open', {
    description: 'Hours in which polling in the mode `adaptive` is always dormant.',
  }),
  time_zone: setting('time_zone', null, 'next tick', 'open', {
    description: 'The time zone of the quiet hours.',
    defaultText: 'the time zone of the machine',
  }),
  freshness_ms: setting('natural_number', 1000, 'next tick', 'open', {
    description:
      'Before Baton starts a run, it reads the issue again, unless it last read the issue within this time. 0: it reads the issue before every start.',
  }),
  budget: {
    requests_per_hour: setting('request_allowance', null, 'next request', 'open', {
      description: 'How many requests Baton may send to each provider in any hour.',
    }),
    requests_per_day: setting('request_allowance', null, 'next request', 'open', {
      description: 'How many requests Baton may send to each provider in a UTC day.',
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
