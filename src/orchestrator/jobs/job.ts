import type { JobKind, JobName } from '../../core/cadence/job-catalogue.ts';
import type { Store } from '../../store/store.ts';
import type { JobTimer } from '../../store/tables/job-timers.ts';
import type { BaseParts } from '../parts.ts';

/** A recurring task of the daemon. */
export interface Job {
  readonly name: JobName;
  /** Remote jobs get jitter, so that many daemons do not send requests in the same second. */
  readonly kind: () => JobKind;
  /** Read each time: the workflow file may have changed, and the interval of a poll depends on its mode. */
  readonly intervalMs: () => number;
  /** Earliest start on the monotonic clock, whatever the interval; read each time. */
  readonly notBefore?: () => number;
  /** Every daemon runs it, or one daemon on the store runs it for all. */
  readonly scope: 'daemon' | 'store';
  /**
   * Whether a start of the daemon runs it at once, or when it is due by the last run before the restart, or by the
   * interval.
   */
  readonly atStart: 'at_once' | 'when_due';
  /** A rejection is a failure: it is logged and counted, and the job runs again when it is due next. */
  run(): void | Promise<void>;
}

export type JobHistory = Pick<JobTimer, 'durationMs' | 'error' | 'failures' | 'lastRunAt' | 'outcome'>;

/** The state of a job at one moment. Times are UTC milliseconds. */
export interface JobView extends JobHistory {
  readonly name: JobName;
  readonly kind: JobKind;
  readonly intervalMs: number;
  readonly isRunning: boolean;
  /** Null before the start and after the stop. */
  readonly nextDueAt: number | null;
  readonly lateMs: number;
}

export interface JobsParts
  extends Pick<
    BaseParts,
    'chance' | 'clock' | 'isShared' | 'logger' | 'notify' | 'own' | 'owner' | 'project' | 'stopping'
  > {
  readonly store: Pick<Store, 'jobTimers'>;
}
