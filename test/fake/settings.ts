import type { AgentSettings, Settings, TrackerSettings } from '../../src/core/settings.ts';

/** The settings of an empty workflow file for the memory tracker, with what a test wants different. */
export function settings(
  changes: { agent?: Partial<AgentSettings>; tracker?: Partial<TrackerSettings>; intervalMs?: number } = {},
): Settings {
  return {
    project: { name: 'test' },
    store: { url: null, retentionDays: 90 },
    secretEnvironment: [],
    tracker: {
      kind: 'memory',
      activeStates: ['Todo', 'In Progress'],
      terminalStates: ['Closed', 'Cancelled', 'Canceled', 'Duplicate', 'Done'],
      requiredLabels: [],
      provider: {},
      secretEnvironment: [],
      ...changes.tracker,
    },
    polling: { intervalMs: changes.intervalMs ?? 30_000 },
    workspace: { root: '/nowhere' },
    hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 60_000 },
    agent: {
      backend: 'rehearsal',
      command: null,
      env: [],
      maxConcurrentAgents: 10,
      maxConcurrentAgentsByState: {},
      maxTurns: 20,
      maxRetryBackoffMs: 300_000,
      turnTimeoutMs: 3_600_000,
      readTimeoutMs: 5_000,
      stallTimeoutMs: 300_000,
      ...changes.agent,
    },
    codex: {
      command: 'codex app-server',
      approvalPolicy: 'never',
      threadSandbox: 'workspace-write',
      turnSandboxPolicy: null,
    },
  };
}
