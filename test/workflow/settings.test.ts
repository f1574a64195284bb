import { describe, expect, it } from 'vitest';
import { given, givenMemory, keysIn, problemsIn, refusal } from './given.ts';

const refused = (frontMatter: string) => refusal(() => givenMemory(frontMatter));
/** What a refused front matter finds wrong. */
const problemsOf = (frontMatter: string) => problemsIn(refused(frontMatter));

describe('settings', () => {
  // @conforms C1
  it('have every default with kind memory alone', () => {
    const { settings } = given('tracker: {kind: memory}');
    expect(settings.polling.intervalMs).toBe(30_000);
    expect(settings.tracker.activeStates).toEqual(['Todo', 'In Progress']);
    expect(settings.tracker.terminalStates).toEqual(['Closed', 'Cancelled', 'Canceled', 'Duplicate', 'Done']);
    expect(settings.agent.maxTurns).toBe(20);
    expect(settings.tracker.provider.assignee ?? null).toBeNull();
  });

  // @conforms C2
  it('reject polling.interval_ms that is not a number', () => {
    const error = refused('polling: {interval_ms: invalid}');
    expect(error.code).toBe('invalid_workflow_config');
    expect(problemsIn(error)).toMatchObject([
      { key: 'polling.interval_ms', details: { problem: 'wrong_value', expected: 'positive_integer' } },
    ]);
    expect(error.message).toMatch(/polling\.interval_ms .*"invalid"/);
  });

  // @conforms C4
  it('reject agent.max_turns 0', () => {
    expect(problemsOf('agent: {max_turns: 0}')).toMatchObject([
      { key: 'agent.max_turns', details: { problem: 'wrong_value', expected: 'positive_integer' } },
    ]);
  });

  // @conforms C5
  it('reject states written as text with commas', () => {
    const error = refusal(() => given('tracker: {kind: memory, active_states: "Todo,  Review,"}'));
    expect(problemsIn(error)).toMatchObject([
      { key: 'tracker.active_states', details: { problem: 'wrong_value', expected: 'text_list' } },
    ]);
    expect(problemsIn(refusal(() => given('tracker: {kind: memory, terminal_states: [Done, 1]}')))).toMatchObject([
      { key: 'tracker.terminal_states[1]', details: { problem: 'wrong_entry', expected: 'text_list' } },
    ]);
  });

  // @conforms C10, 1.12
  it('reject a blank codex.command', () => {
    const error = refused('codex: {command: ""}');
    expect(error.code).toBe('missing_agent_command');
    expect(problemsIn(error)).toMatchObject([
      { key: 'codex.command', details: { problem: 'wrong_value', expected: 'non_blank_text' } },
    ]);
  });

  // @conforms C11
  it('reject a codex.command of spaces, whatever the backend', () => {
    expect(problemsOf('agent: {backend: rehearsal}\ncodex: {command: "   "}')).toMatchObject([
      { key: 'codex.command', details: { problem: 'wrong_value', expected: 'non_blank_text' } },
    ]);
  });

  // @conforms C13
  it('accept any text as an approval policy', () => {
    const { codex } = givenMemory('codex: {approval_policy: definitely-not-valid}').settings.backends;
    expect(codex?.approvalPolicy).toBe('definitely-not-valid');
    expect(givenMemory('codex: {approval_policy: ""}').settings.backends.codex?.approvalPolicy).toBe('');
  });

  // @conforms C14
  it('reject a number as an approval policy', () => {
    expect(problemsOf('codex: {approval_policy: 123}')).toMatchObject([
      { key: 'codex.approval_policy', details: { problem: 'wrong_value', expected: 'text_or_map' } },
    ]);
  });

  // @conforms C16
  it('accept any text as a thread sandbox, and reject a number', () => {
    expect(givenMemory('codex: {thread_sandbox: unsafe-ish}').settings.backends.codex?.threadSandbox).toBe(
      'unsafe-ish',
    );
    expect(givenMemory('codex: {thread_sandbox: ""}').settings.backends.codex?.threadSandbox).toBe('');
    expect(keysIn(refused('codex: {thread_sandbox: 123}'))).toEqual(['codex.thread_sandbox']);
  });

  // @conforms C17
  it('pass a turn sandbox policy on unchanged', () => {
    const { codex } = givenMemory(
      'codex: {turn_sandbox_policy: {type: workspaceWrite, writableRoots: [relative/path]}}',
    ).settings.backends;
    expect(codex?.turnSandboxPolicy).toEqual({ type: 'workspaceWrite', writableRoots: ['relative/path'] });
    expect(keysIn(refused('codex: {turn_sandbox_policy: off}'))).toEqual(['codex.turn_sandbox_policy']);
  });

  // @conforms C26
  it('use the default of every key that is not set', () => {
    const { agent, backends, tracker, workspace, hooks } = givenMemory('').settings;
    expect(workspace.root).toBe('/state/workspaces');
    expect(agent).toEqual({
      backend: 'codex',
      standIn: null,
      byState: {},
      afterSuccess: 'continue',
      env: [],
      isolation: 'namespaces',
      isolationRequired: false,
      isolationRead: [],
      isolationWrite: [],
      accounts: ['codex', 'command', 'rehearsal'].map((name) => ({ name, backend: name, env: {}, home: null })),
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
      readTimeoutMs: 5000,
      stallTimeoutMs: 300_000,
      shutdownTimeoutMs: 30_000,
    });
    expect(backends.command).toEqual({ command: null });
    expect(backends.codex).toEqual({
      command: 'codex app-server',
      approvalPolicy: { reject: { sandbox_approval: true, rules: true, mcp_elicitations: true } },
      threadSandbox: 'workspace-write',
      turnSandboxPolicy: null,
      tools: 'dynamic',
    });
    expect(tracker.requiredLabels).toEqual([]);
    expect(hooks).toEqual({
      afterCreate: null,
      beforeRun: null,
      afterRun: null,
      beforeRemove: null,
      timeoutMs: 60_000,
    });
  });

  // @conforms C28
  it('trim required labels, lower their case and drop repeats', () => {
    const { tracker } = given(
      'tracker: {kind: memory, required_labels: [" Symphony ", SYMPHONY, JavaScript]}',
    ).settings;
    expect(tracker.requiredLabels).toEqual(['symphony', 'javascript']);
  });

  // @conforms C29
  it('keep a blank required label, so that it matches no issue', () => {
    expect(given('tracker: {kind: memory, required_labels: [" "]}').settings.tracker.requiredLabels).toEqual(['']);
  });

  // @conforms C31
  it('reject agent.max_concurrent_agents that is not a number', () => {
    expect(keysIn(refused('agent: {max_concurrent_agents: bad}'))).toEqual(['agent.max_concurrent_agents']);
  });

  // @conforms C34
  it('report everything that is wrong in one error', () => {
    const error = refusal(() =>
      given(`
tracker: {kind: memory, active_states: {todo: true}}
polling: {interval_ms: {bad: true}}
workspace: {root: 123}
agent: {max_retry_backoff_ms: 0, max_concurrent_agents_by_state: {Todo: "1", Review: 0, Done: bad}}
hooks: {timeout_ms: 0}
observability: {dashboard_enabled: maybe}
server: {port: -1, host: 123}`),
    );
    expect(error.code).toBe('invalid_workflow_config');
    const keys = [
      'tracker.active_states',
      'polling.interval_ms',
      'workspace.root',
      'hooks.timeout_ms',
      'agent.max_concurrent_agents_by_state.Review',
      'agent.max_concurrent_agents_by_state.Done',
      'agent.max_retry_backoff_ms',
      'server.port',
      'server.host',
      'observability.dashboard_enabled',
    ];
    expect(keysIn(error)).toEqual(keys);
    for (const key of keys) expect(error.message).toContain(key);
  });

  // @conforms C35
  it('pass on settings of a future Codex', () => {
    const { codex } = givenMemory(
      'codex: {approval_policy: future-policy, thread_sandbox: future-sandbox, turn_sandbox_policy: {type: futureSandbox, nested: {flag: true}}}',
    ).settings.backends;
    expect(codex).toMatchObject({
      approvalPolicy: 'future-policy',
      threadSandbox: 'future-sandbox',
      turnSandboxPolicy: { type: 'futureSandbox', nested: { flag: true } },
    });
  });

  // @conforms C43
  it('apply limits by state to their states', () => {
    const { agent } = givenMemory(
      'agent: {max_concurrent_agents: 10, max_concurrent_agents_by_state: {todo: 1, "In Progress": 4, "In Review": 2}}',
    ).settings;
    expect(agent.maxConcurrentAgentsByState).toEqual({ todo: 1, 'in progress': 4, 'in review': 2 });
  });

  // @conforms C44
  it('normalise state names, and accept one limit per state', () => {
    const limits = 'agent: {max_concurrent_agents_by_state: {" In Progress ": 2, todo: 1}}';
    expect(givenMemory(limits).settings.agent.maxConcurrentAgentsByState).toEqual({ 'in progress': 2, todo: 1 });
    expect(problemsOf('agent: {max_concurrent_agents_by_state: {Todo: 1, " todo ": 2}}')).toMatchObject([
      {
        key: 'agent.max_concurrent_agents_by_state. todo ',
        details: { problem: 'repeated', state: 'todo' },
      },
    ]);
    expect(problemsOf('agent: {max_concurrent_agents_by_state: {" ": 1}}')).toMatchObject([
      { key: 'agent.max_concurrent_agents_by_state', details: { problem: 'blank_key' } },
    ]);
  });

  // @conforms C49
  it('replace the default approval policy as a whole', () => {
    const { codex } = givenMemory('codex: {approval_policy: {reject: {sandbox_approval: true}}}').settings.backends;
    expect(codex?.approvalPolicy).toEqual({ reject: { sandbox_approval: true } });
  });

  it('read whole numbers and booleans that are written as text', () => {
    const { settings, warnings } = givenMemory(
      'polling: {interval_ms: "5000"}\nobservability: {dashboard_enabled: "0"}',
    );
    expect(settings.polling.intervalMs).toBe(5000);
    expect(settings.observability.dashboardEnabled).toBe(false);
    expect(warnings).toEqual([]);
    for (const bad of [
      '1.5',
      '"1.5"',
      '" 5"',
      '"5s"',
      '""',
      'true',
      '.nan',
      '.inf',
      '1e30',
      '"99999999999999999999"',
      '[5]',
    ]) {
      expect(keysIn(refused(`polling: {interval_ms: ${bad}}`)), bad).toEqual(['polling.interval_ms']);
    }
  });

  it('reject a section that is not a map', () => {
    const details = { problem: 'wrong_value', expected: 'map' };
    expect(problemsOf('agent: 5\nhooks: [a]')).toMatchObject([
      { key: 'hooks', details },
      { key: 'agent', details },
    ]);
    expect(problemsIn(refusal(() => given('tracker: memory')))[0]).toMatchObject({ key: 'tracker', details });
  });

  it('shorten a long value in a message', () => {
    expect(refused(`polling: {interval_ms: ${'x'.repeat(500)}}`).message.length).toBeLessThan(250);
  });
});

describe('the error message', () => {
  it('stays readable when a hostile file has thousands of errors', () => {
    const env = Array(5000).fill('A-B').join(',');
    const error = refused(`agent: {env: [${env}]}`);
    expect(problemsIn(error)).toHaveLength(100);
    expect(error.message).toContain('4900');
  });
});

describe('the agent section', () => {
  it('lists the known backends when the named one is unknown', () => {
    const error = refused('agent: {backend: cobol}');
    expect(error).toMatchObject({ code: 'unsupported_agent_backend' });
    expect(problemsIn(error)).toMatchObject([{ details: { allowed: ['codex', 'command', 'rehearsal'] } }]);
  });

  it('requires the settings that a backend needs', () => {
    const code = 'missing_agent_command';
    expect(problemsOf('agent: {backend: command}')).toMatchObject([
      { code, key: 'agent.command', details: { problem: 'missing', backend: 'command' } },
    ]);
    expect(problemsOf('agent: {backend: command, command: " "}')).toMatchObject([
      { code, key: 'agent.command', details: { problem: 'wrong_value' } },
    ]);
    expect(givenMemory('agent: {backend: command, command: ./run}').settings.backends.command).toEqual({
      command: './run',
    });
  });

  it('takes a timeout from agent, else from codex, else the default', () => {
    const both = givenMemory('agent: {turn_timeout_ms: 1}\ncodex: {turn_timeout_ms: 2, read_timeout_ms: 3}');
    expect(both.settings.agent).toMatchObject({ turnTimeoutMs: 1, readTimeoutMs: 3, stallTimeoutMs: 300_000 });
    expect(both.warnings).toEqual([]);
    expect(refused('codex: {turn_timeout_ms: 0}').message).toContain('codex.turn_timeout_ms');
  });

  it('switches the stall check off with a timeout of zero or less', () => {
    expect(givenMemory('codex: {stall_timeout_ms: 0}').settings.agent.stallTimeoutMs).toBe(0);
    expect(givenMemory('codex: {stall_timeout_ms: "-1"}').settings.agent.stallTimeoutMs).toBe(-1);
  });

  it('passes on named variables, but never a secret of the tracker', () => {
    expect(givenMemory('agent: {env: [FOO, BAR_2]}').settings.agent.env).toEqual(['FOO', 'BAR_2']);
    expect(keysIn(refused('agent: {env: [FOO, "A=B"]}'))).toEqual(['agent.env[1]']);
    const linear = 'tracker: {kind: linear, project_slug: p, api_key: $MY_KEY}\nagent: {env: [MY_KEY]}';
    expect(problemsIn(refusal(() => given(linear, { MY_KEY: 'k' })))).toMatchObject([
      { key: 'agent.env', details: { problem: 'secret_of_baton', variable: 'MY_KEY' } },
    ]);
  });

  it('has no hook when the script is blank', () => {
    const { hooks } = givenMemory('hooks: {before_run: "  ", after_run: "echo done\\n"}').settings;
    expect(hooks).toMatchObject({ beforeRun: null, afterRun: 'echo done\n' });
  });
});
