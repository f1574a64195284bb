/** Where a daemon kills itself with SIGKILL. It is handed over as JSON in the variable below and read by `kill-at.ts`. */
export interface KillPlan {
  /** What is listened to: SQL with its parameters, command lines that are spawned, changes of files, lines of the log. */
  readonly at: 'sql' | 'spawn' | 'file' | 'log';
  /** A regular expression over the text of the statement, command line, `function path` or log line. */
  readonly pattern: string;
  /**
   * `after_commit`: when the transaction of the statement is on the disk; without one, the same as `after`. `after_exit`:
   * when the program that was spawned has ended, and before anybody was told.
   */
  readonly when: 'before' | 'after' | 'after_commit' | 'after_exit';
  /** Which of the matches; the first when not said. */
  readonly occurrence?: number;
  /** Matches count only from the first log line, or statement, that matches this. */
  readonly since?: string;
}

export const killPlanVariable = 'BATON_FAULT_KILL';
