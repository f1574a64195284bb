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
  finished_agents: { kind: 'local', intervalMs: 10_000, description: 'agents that are gone without telling' },
  stall_look: { kind: 'local', intervalMs: 5_000, description: 'runs that are silent or at a limit' },
  tracker_poll: { kind: 'remote', intervalMs: null, description: 'what there is to do, and the issues that run' },
  workspace_sweep: { kind: 'remote', intervalMs: 600_000, description: 'workspaces of finished issues' },
  salvage_pruning: { kind: 'local', intervalMs: 86_400_000, description: 'saved work that is older than wanted' },
  store_maintenance: { kind: 'local', intervalMs: 600_000, description: 'retention and upkeep of the store' },
  usage_rollup: { kind: 'local', intervalMs: 60_000, description: 'what runs in flight and all daemons have used' },
  queue_health: {
    kind: 'local',
    intervalMs: 1_800_000,
    description: 'issues that wait too long or fail again and again',
  },
} as const satisfies Record<string, JobDescription>;

export type JobName = keyof typeof jobCatalogue;

export const jobNames = Object.keys(jobCatalogue) as readonly JobName[];
