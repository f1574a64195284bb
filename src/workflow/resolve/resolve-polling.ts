import type { PollingSettings, RequestAllowance } from '../../core/settings.ts';
import type { FrontMatter } from '../parse-front-matter.ts';
import { reportJobsThatAreNone } from '../report-jobs.ts';
import { nearestKey } from '../table/nearest-key.ts';
import { timedJobs } from '../table/polling-table.ts';
import { type ReadSettings, sectionOf } from '../table/read-settings.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';

interface ResolvedPolling {
  readonly settings: PollingSettings;
  /** Of the quiet hours, whether there are any or not. */
  readonly timeZone: string;
}

interface PollingPlace {
  /** The time zone of the machine. */
  readonly timeZone: string;
  /** Services that a budget may name. */
  readonly providers: readonly string[];
  /** The tracker is elsewhere, and counts. */
  readonly isRemote: boolean;
}

/** What only one of the modes reads. `dormant_interval_ms` is none: it is also the longest rest of a tracker that failed. */
const keysOfMode = {
  fixed: ['polling.interval_ms'],
  adaptive: [
    'polling.active_interval_ms',
    'polling.idle_interval_ms',
    'polling.idle_after_ms',
    'polling.dormant_after_ms',
    'polling.quiet_hours',
    'polling.time_zone',
  ],
} as const;

/** The `polling` section: the modes, the quiet hours in their time zone, the intervals of jobs and the budget. */
export function resolvePolling(
  frontMatter: FrontMatter,
  read: ReadSettings,
  place: PollingPlace,
  report: Report,
): ResolvedPolling {
  const { values } = read;
  const quietHours = values['polling.quiet_hours'];
  const timeZone = values['polling.time_zone'] ?? place.timeZone;
  reportWithoutEffect(read, report);
  if (place.isRemote) reportHasty(read, report);
  checkOrder(read, report);
  reportJobsThatAreNone(sectionOf(frontMatter, 'polling.jobs'), report);
  const allowance = (key: `polling.budget.requests_per_${'hour' | 'day'}`): RequestAllowance | null => {
    reportUnknownProviders(key, values[key], place.providers, report);
    return values[key];
  };
  return {
    settings: {
      mode: values['polling.mode'],
      intervalMs: values['polling.interval_ms'],
      adaptive: {
        activeIntervalMs: values['polling.active_interval_ms'],
        idleIntervalMs: values['polling.idle_interval_ms'],
        dormantIntervalMs: values['polling.dormant_interval_ms'],
        idleAfterMs: values['polling.idle_after_ms'],
        dormantAfterMs: values['polling.dormant_after_ms'],
      },
      quietHours: quietHours === null ? null : { ...quietHours, timeZone },
      freshnessMs: values['polling.freshness_ms'],
      jobIntervalsMs: readJobIntervals(read),
      budget: {
        requestsPerHour: allowance('polling.budget.requests_per_hour'),
        requestsPerDay: allowance('polling.budget.requests_per_day'),
      },
    },
    timeZone,
  };
}

/** Somebody who thinks in seconds writes 30 and gets thirty-three polls a second. */
function reportHasty({ values, given }: ReadSettings, report: Report): void {
  for (const key of ['polling.interval_ms', 'polling.active_interval_ms', 'polling.idle_interval_ms'] as const) {
    if (!given.has(key) || values[key] >= leastIntervalMs) continue;
    const message = `${key} is ${values[key]} milliseconds: that many requests no tracker likes; 1000 is a second`;
    report(warningAt(key, message, { problem: 'too_short', least: leastIntervalMs }));
  }
}

const leastIntervalMs = 1_000;

/** Who writes down when it has to be quiet must not find out at night that nobody listens. */
function reportWithoutEffect({ values, given }: ReadSettings, report: Report): void {
  const mode = values['polling.mode'];
  const other = mode === 'fixed' ? 'adaptive' : 'fixed';
  for (const key of keysOfMode[other].filter((candidate) => given.has(candidate))) {
    const message = `${key} has no effect while polling.mode is ${mode}; it is for the mode ${other}`;
    report(warningAt(key, message, { code: 'setting_without_effect', mode: other }));
  }
}

function checkOrder({ values }: ReadSettings, report: Report): void {
  const [idle, dormant] = ['polling.idle_after_ms', 'polling.dormant_after_ms'] as const;
  if (values[dormant] > values[idle]) return;
  const message = `${dormant} must be more than ${idle}, which is ${values[idle]}, found ${values[dormant]}`;
  report(errorAt(dormant, message, { problem: 'not_more_than', other: idle }));
}

/** Only what the file sets: what a job does by default may change with it. */
function readJobIntervals({ values, given }: ReadSettings): PollingSettings['jobIntervalsMs'] {
  const written = timedJobs.filter((job) => given.has(`polling.jobs.${job}.interval_ms`));
  return Object.fromEntries(written.map((job) => [job, values[`polling.jobs.${job}.interval_ms`]]));
}

/** A budget for a service that is misspelt would be none. */
function reportUnknownProviders(
  key: string,
  allowance: RequestAllowance | null,
  providers: readonly string[],
  report: Report,
): void {
  if (allowance === null || typeof allowance === 'number') return;
  for (const name of Object.keys(allowance).filter((candidate) => !providers.includes(candidate))) {
    const nearest = nearestKey(name, providers);
    const hint = nearest === null ? `known: ${providers.join(', ')}` : `did you mean ${nearest}?`;
    // An error, not a warning: a bound that binds nobody is none.
    const message = `${key}.${name} is not a provider Baton knows; ${hint}`;
    report(errorAt(`${key}.${name}`, message, { code: 'unknown_setting', nearest, allowed: providers }));
  }
}
