import { type FrontMatter, isMap } from './parse-front-matter.ts';
import { nearestKey } from './table/nearest-key.ts';
import { timedJobs } from './table/polling-table.ts';
import { errorAt, type Report } from './workflow-problems.ts';

/**
 * Reports what is written under `polling.jobs` and belongs to no job. It is an error, not a warning as elsewhere: the map
 * holds nothing but intervals of jobs, so whatever else is there was meant to change one.
 */
export function reportJobsThatAreNone(jobs: FrontMatter, report: Report): void {
  for (const [name, value] of Object.entries(jobs)) {
    const key = `polling.jobs.${name}`;
    if (name === 'tracker_poll') {
      const instead = 'polling.mode and polling.interval_ms say how often the tracker is asked';
      report(errorAt(key, `${key} cannot be set: ${instead}`, { problem: 'not_settable' }));
    } else if (!timedJobs.some((job) => job === name)) {
      const nearest = nearestKey(name, timedJobs);
      const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
      const message = `${key} is no job${hint} (jobs: ${timedJobs.join(', ')})`;
      report(errorAt(key, message, { problem: 'unknown_job', nearest, allowed: timedJobs }));
    } else if (isMap(value)) {
      for (const other of Object.keys(value).filter((each) => each !== 'interval_ms')) {
        const message = `${key}.${other} is not a setting of a job; allowed: interval_ms`;
        report(errorAt(`${key}.${other}`, message, { problem: 'unknown_key', allowed: ['interval_ms'] }));
      }
    }
  }
}
