/** Where a job's work is: on this machine, or also at a remote service, whose requests are counted. */
export type JobKind = 'local' | 'remote';

interface JobDescription {
  readonly kind: JobKind;
  /** How often it runs by default; null: by the polling mode. */
  readonly intervalMs: number | null;
  readonly description: string;
}

/**
 * Every recurring job of the daemon, each at its own pace (law 6). The events that a job's row in docs/cadence.md names
 * also run it at once; exits, due retries and leases are events and deadlines, not jobs, and nothing here slows them.
 */
export const jobCatalogue = {
  finished_agents: { kind: 'local', intervalMs: 10_000, description: 'find agents that exited without a report' },
  stall_check: { kind: 'local', intervalMs: 5_000, description: 'stop runs that are silent or at a limit' },
  tracker_poll: {
    kind: 'remote',
    intervalMs: null,
    description: 'read the issues to work on and the issues with a run',
  },
  pull_requests: {
    kind: 'local',
    intervalMs: 5_000,
    description: 'follow merges, pushes and checks of open pull requests',
  },
  workspace_sweep: { kind: 'remote', intervalMs: 600_000, description: 'remove workspaces of finished issues' },
  pruning: {
    kind: 'remote',
    intervalMs: 86_400_000,
    description: 'delete saved work, branches, caches and transcripts that are past their retention',
  },
  store_maintenance: { kind: 'local', intervalMs: 600_000, description: 'delete old records and maintain the store' },
  usage_rollup: { kind: 'local', intervalMs: 60_000, description: 'add up the usage of live runs and of all daemons' },
  queue_health: {
    kind: 'local',
    intervalMs: 1_800_000,
    description: 'find issues that wait too long or fail repeatedly',
  },
  scanner: {
    kind: 'local',
    intervalMs: 600_000,
    description: 'begin a scan for improvements if one is due (`scanner.enabled`)',
  },
  learning: {
    kind: 'local',
    intervalMs: 600_000,
    description:
      'decide about learnings on trial, and let an agent propose new ones if that is due (`learner.enabled`)',
  },
} as const satisfies Record<string, JobDescription>;

export type JobName = keyof typeof jobCatalogue;

export const jobNames = Object.keys(jobCatalogue) as readonly JobName[];
