import { timedJobs } from '../../core/settings/polling-keys.ts';
import type { RequestAllowance } from '../../core/settings/setting.ts';
import type { PollingSettings } from '../../core/settings.ts';
import { type FrontMatter, isMap } from '../parse-front-matter.ts';
import { nearestKey } from '../table/nearest-key.ts';
import { type ReadSettings, sectionOf } from '../table/read-settings.ts';
import type { PlainSettings } from '../table/setting-table.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';

interface PollingPlace {
  /** The time zone of the machine. */
  readonly timeZone: string;
  /** Services that a budget may name. */
  readonly providers: readonly string[];
  /** The tracker is a remote service, which counts requests. */
  readonly isRemote: boolean;
}

/**
 * Keys that only one mode reads. `dormant_interval_ms` is not among them: it also limits the wait after a tracker
 * failed.
 */
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
): PollingSettings {
  const { polling } = read.plain;
  const timeZone = polling.timeZone ?? place.timeZone;
  reportWithoutEffect(read, report);
  if (place.isRemote) reportShortIntervals(read, report);
  checkOrder(polling, report);
  reportUnknownJobs(sectionOf(frontMatter, 'polling.jobs'), report);
  const { requestsPerHour, requestsPerDay } = polling.budget;
  reportUnknownProviders('polling.budget.requests_per_hour', requestsPerHour, place.providers, report);
  reportUnknownProviders('polling.budget.requests_per_day', requestsPerDay, place.providers, report);
  return {
    ...polling,
    quietHours: polling.quietHours === null ? null : { ...polling.quietHours, timeZone },
    timeZone,
    jobIntervalsMs: readJobIntervals(read),
  };
}

/** A user who thinks in seconds writes 30 and gets thirty-three polls a second. */
function reportShortIntervals({ plain: { polling }, given }: ReadSettings, report: Report): void {
  const intervals = {
    'polling.interval_ms': polling.intervalMs,
    'polling.active_interval_ms': polling.activeIntervalMs,
    'polling.idle_interval_ms': polling.idleIntervalMs,
  };
  for (const [key, intervalMs] of Object.entries(intervals)) {
    if (!given.has(key) || intervalMs >= leastIntervalMs) continue;
    const message = `${key} is ${intervalMs} milliseconds, which is too often for a remote tracker; write 1000 for one second`;
    report(warningAt(key, message, { problem: 'too_short', least: leastIntervalMs }));
  }
}

const leastIntervalMs = 1_000;

/** A user who sets quiet hours must learn before the night that they have no effect. */
function reportWithoutEffect({ plain, given }: ReadSettings, report: Report): void {
  const { mode } = plain.polling;
  const other = mode === 'fixed' ? 'adaptive' : 'fixed';
  for (const key of keysOfMode[other].filter((candidate) => given.has(candidate))) {
    const message = `${key} has no effect while polling.mode is ${mode}; only the mode ${other} uses it`;
    report(warningAt(key, message, { code: 'setting_without_effect', mode: other }));
  }
}

function checkOrder({ idleAfterMs, dormantAfterMs }: PlainSettings['polling'], report: Report): void {
  const [idle, dormant] = ['polling.idle_after_ms', 'polling.dormant_after_ms'] as const;
  if (dormantAfterMs > idleAfterMs) return;
  const message = `${dormant} must be more than ${idle}, which is ${idleAfterMs}, found ${dormantAfterMs}`;
  report(errorAt(dormant, message, { problem: 'not_more_than', other: idle }));
}

/** Only the intervals that the file sets, so that every other job keeps its default. */
function readJobIntervals({ plain: { polling }, given }: ReadSettings): PollingSettings['jobIntervalsMs'] {
  const written = timedJobs.filter((job) => given.has(`polling.jobs.${job}.interval_ms`));
  return Object.fromEntries(written.map((job) => [job, polling.jobIntervalsMs[job]]));
}

/** A budget for a misspelt service would limit nothing. */
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
    // An error, not a warning: a limit for an unknown provider limits nothing.
    const message = `${key}.${name} is not a provider that Baton knows; ${hint}`;
    report(errorAt(`${key}.${name}`, message, { code: 'unknown_setting', nearest, allowed: providers }));
  }
}

/**
 * Reports keys under `polling.jobs` that are not jobs. An error, not a warning as elsewhere: the map holds only
 * intervals of jobs, so any other key was meant to change one.
 */
function reportUnknownJobs(jobs: FrontMatter, report: Report): void {
  for (const [name, value] of Object.entries(jobs)) {
    const key = `polling.jobs.${name}`;
    if (name === 'tracker_poll') {
      const instead = 'polling.mode and polling.interval_ms set how often Baton polls the tracker';
      report(errorAt(key, `${key} cannot be set: ${instead}`, { problem: 'not_settable' }));
    } else if (!timedJobs.some((job) => job === name)) {
      const nearest = nearestKey(name, timedJobs);
      const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
      const message = `${key} is not a job${hint} (jobs: ${timedJobs.join(', ')})`;
      report(errorAt(key, message, { problem: 'unknown_job', nearest, allowed: timedJobs }));
    } else if (isMap(value)) {
      for (const other of Object.keys(value).filter((each) => each !== 'interval_ms')) {
        const message = `${key}.${other} is not a setting of a job; allowed: interval_ms`;
        report(errorAt(`${key}.${other}`, message, { problem: 'unknown_key', allowed: ['interval_ms'] }));
      }
    }
  }
}
