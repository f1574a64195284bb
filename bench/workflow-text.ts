/** The settings that a bench varies. */
export interface BenchWorkflow {
  readonly intervalMs: number;
  readonly slots: number;
  /** Shell text of the agent, for its backend. */
  readonly command: string;
  readonly backend?: 'command' | 'codex' | 'claude';
  /** Where a scripted agent writes what it was sent. */
  readonly writes?: string;
  /** The JSON file with the issues; without it there are none. */
  readonly issuesFile?: string;
}

/** A workflow on the `memory` tracker with a program as its agent, plain folders as workspaces and no hooks. */
export function workflowText(wanted: BenchWorkflow): string {
  const { intervalMs, slots, command, backend = 'command', writes, issuesFile } = wanted;
  const provider = issuesFile === undefined ? {} : { issues_file: issuesFile };
  const settings = {
    project: { name: 'bench' },
    tracker: { kind: 'memory', provider },
    polling: { interval_ms: intervalMs },
    workspace: { root: 'workspaces' },
    agent: {
      backend,
      max_concurrent_agents: slots,
      ...(backend === 'command' ? { command } : {}),
      ...(writes === undefined ? {} : { isolation_write: [writes] }),
    },
    ...(backend === 'command' ? {} : { [backend]: { command } }),
  };
  // JSON is YAML too.
  return `---\n${JSON.stringify(settings)}\n---\nWork on {{ issue.identifier }}: {{ issue.title }}\n`;
}

/** Issues in the state `Todo`, in the format of the `memory` tracker. */
export function issuesText(identifiers: readonly string[]): string {
  return JSON.stringify(identifiers.map((identifier) => ({ identifier, title: `Do ${identifier}`, state: 'Todo' })));
}
