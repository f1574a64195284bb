import type {
  AgentSettings,
  LimitSettings,
  NotifySettings,
  PollingSettings,
  Settings,
  TrackerSettings,
  WorkspaceSettings,
} from '../../src/core/settings.ts';

/** The settings of an empty workflow file for the memory tracker, with what a test wants different. */
export function settings(
  changes: {
    agent?: Partial<AgentSettings>;
    tracker?: Partial<TrackerSettings>;
    limits?: Partial<LimitSettings>;
    workspace?: Partial<WorkspaceSettings>;
    polling?: Partial<PollingSettings>;
    notify?: Partial<NotifySettings>;
    intervalMs?: number;
  } = {},
): Settings {
  return {
    project: { name: 'test' },
    store: { url: null, retentionDays: 90, leaseMs: 30_000 },
    secretEnvironment: [],
    server: { port: null, host: '127.0.0.1', allowedHosts: [] },
    observability: { isViewShown: true, refreshMs: 500 },
    tracker: {
      kind: 'memory',
      activeStates: ['Todo', 'In Progress'],
      terminalStates: ['Closed', 'Cancelled', 'Canceled', 'Duplicate', 'Done'],
      reviewStates: [],
      requiredLabels: [],
      trustedAuthors: [],
      provider: {},
      secretEnvironment: [],
      ...changes.tracker,
    },
    polling: {
      mode: 'fixed',
      intervalMs: changes.intervalMs ?? 30_000,
      adaptive: {
        activeIntervalMs: 15_000,
        idleIntervalMs: 60_000,
        dormantIntervalMs: 300_000,
        idleAfterMs: 600_000,
        dormantAfterMs: 3_600_000,
      },
      quietHours: null,
      freshnessMs: 1000,
      jobIntervalsMs: {},
      budget: { requestsPerHour: null, requestsPerDay: null },
      ...changes.polling,
    },
    workspace: {
      root: '/nowhere',
      repo: null,
      strategy: 'none',
      base: null,
      copy: [],
      copyFrom: '/nowhere',
      setup: null,
      archive: false,
      retentionMs: 0,
      retentionMsByState: {},
      salvageRetentionDays: 0,
      minFreeDiskMb: 250,
      ...changes.workspace,
    },
    hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 60_000 },
    agent: {
      backend: 'rehearsal',
      command: null,
      env: [],
      accounts: ['rehearsal', 'command', 'codex'].map((name) => ({ name, backend: name, env: {}, home: null })),
      quotaStopPercent: 95,
      approvals: 'ask',
      askTimeoutMs: 900_000,
      maxIdleTurns: 3,
      turnWallTimeMs: 0,
      contextRecovery: { reducedBudgetTokens: null, compact: true, freshStart: true, largerModel: null },
      prices: {},
      maxConcurrentAgents: 10,
      maxConcurrentAgentsByState: {},
      maxInReview: 0,
      maxClaimed: 0,
      maxTurns: 20,
      maxRetryBackoffMs: 300_000,
      maxRetries: 3,
      maxStaleRuns: 3,
      minFreeMemoryMb: 250,
      turnTimeoutMs: 3_600_000,
      readTimeoutMs: 5_000,
      stallTimeoutMs: 300_000,
      ...changes.agent,
    },
    limits: {
      runsPerIssue: 30,
      tokensPerIssue: 20_000_000,
      runWallTimeMs: 4 * 3_600_000,
      issueWallTimeMs: 24 * 3_600_000,
      usdPerIssue: 0,
      tokensPerDay: 100_000_000,
      usdPerDay: 0,
      ...changes.limits,
    },
    codex: {
      command: 'codex app-server',
      approvalPolicy: 'never',
      threadSandbox: 'workspace-write',
      turnSandboxPolicy: null,
      tools: 'dynamic',
    },
    notify: { targets: [], quietHours: null, evenInQuietHours: false, ...changes.notify },
  };
}
