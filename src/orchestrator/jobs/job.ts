import type { JobKind, JobName } from '../../core/cadence/job-catalogue.ts';
import type { Store } from '../../store/store.ts';
import type { JobTimer } from '../../store/tables/job-timers.ts';
import type { BaseParts } from '../parts.ts';

/** A concern of the daemon that comes again and again. */
export interface Job {
  readonly name: JobName;
  /** Remote ones are spread by jitter, so that many daemons do not ask in the same second. */
  readonly kind: () => JobKind;
  /** Asked each time: the workflow file may have changed, and a poll goes by its mode. */
  readonly intervalMs: () => number;
  /** Not before this, on the monotonic clock, whatever the interval; asked each time. */
  readonly notBefore?: () => number;
  /** Every daemon has its own, or one of those on the store does it for all. */
  readonly scope: 'daemon' | 'store';
  /** Whether a start runs it at once, or when it is due by the last run before the restart, or by the interval. */
  readonly atStart: 'at_once' | 'when_due';
  /** A rejection is a failure: told, counted, and tried again when it is due next. */
  run(): void | Promise<void>;
}

export type JobHistory = Pick<JobTimer, 'durationMs' | 'error' | 'failures' | 'lastRunAt' | 'outcome'>;

/** A job at one instant. Times are UTC milliseconds. */
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
