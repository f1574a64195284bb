/** Where a daemon kills itself with SIGKILL. It is passed as JSON in the variable below and read by `kill-at.ts`. */
export interface KillPlan {
  /** What is watched: SQL with its parameters, spawned command lines, file changes, or log lines. */
  readonly at: 'sql' | 'spawn' | 'file' | 'log';
  /** A regular expression over the text of the statement, command line, `function path` or log line. */
  readonly pattern: string;
  /**
   * `after_commit`: when the transaction of the statement is on the disk; without one, the same as `after`. `after_exit`:
   * when the spawned program has ended, before any listener is called.
   */
  readonly when: 'before' | 'after' | 'after_commit' | 'after_exit';
  /** Which match counts; the first by default. */
  readonly occurrence?: number;
  /** Matches count only from the first log line, or statement, that matches this. */
  readonly since?: string;
}

export const killPlanVariable = 'BATON_FAULT_KILL';
