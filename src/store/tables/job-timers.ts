/** What became of each recurring job last and when it is due next, so that a restart does not run all of them at once. */
export interface JobTimers {
  put(timer: JobTimer): Promise<void>;
  /** Of every owner, by job and owner. */
  list(project: string): Promise<readonly JobTimer[]>;
}

export interface JobTimer {
  readonly project: string;
  readonly job: string;
  /** The daemon whose job it is; empty for one that any daemon on the store does for all. */
  readonly owner: string;
  readonly lastRunAt: number | null;
  readonly nextDueAt: number;
  /** Of the last run; null before it. */
  readonly outcome: 'ok' | 'failed' | null;
  readonly durationMs: number | null;
  /** Failures in a row. */
  readonly failures: number;
  /** What the last failure said. */
  readonly error: string | null;
}
