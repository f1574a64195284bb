/** When each recurring job ran last and is due next, so that a restart does not run all of them at once. */
export interface JobTimers {
  put(timer: JobTimer): Promise<void>;
  list(project: string): Promise<readonly JobTimer[]>;
}

export interface JobTimer {
  readonly project: string;
  readonly job: string;
  readonly lastRunAt: number | null;
  readonly nextDueAt: number;
}
