import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SessionRequest } from '../../../src/agent/agent.ts';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import type { Step } from '../../fake/claude-code/scenario.ts';
import { openClaude, turn } from './claude-scene.ts';

const permission = (tool_name: string, input: Record<string, unknown>, more = {}): Step => ({
  ask: { subtype: 'can_use_tool', tool_name, input, tool_use_id: 'toolu_1', ...more },
});

/** A person who gives this answer to everything. */
const person = (answer: QuestionAnswer | null) => {
  const asked: AgentQuestion[] = [];
  const ask: SessionRequest['ask'] = async (question) => {
    asked.push(question);
    return answer;
  };
  return { asked, ask };
};

describe('a turn of Claude Code', () => {
  it('continues with what was said too late for it, and ends after that', async () => {
    const { session, fake } = await openClaude({
      turns: [
        { match: 'first', steps: [{ say: 'working' }, { untilSaid: 1 }, { say: 'one' }] },
        { match: 'and this', steps: [{ say: 'both' }] },
      ],
    });
    const result = session.runTurn('first');
    await expect.poll(() => session.steer?.('and this')).toBe(true);
    expect(await result).toMatchObject({ status: 'completed', message: 'both' });
    expect(fake.said().slice(0, 2)).toEqual(['first', 'and this']);
  });

  it.each(['/clear', ' \n/compact everything'])(
    'never begins with a slash, which would be a command: %j',
    async (words) => {
      const { session, fake } = await openClaude({
        turns: [{ steps: [{ say: 'working' }, { untilSaid: 1 }, { say: 'one' }] }, { steps: [{ say: 'both' }] }],
      });
      const result = session.runTurn(words);
      await expect.poll(() => session.steer?.(words)).toBe(true);
      expect(await result).toMatchObject({ status: 'completed' });
      for (const said of fake.said()) {
        expect(said.trimStart().startsWith('/')).toBe(false);
        expect(said).toContain(words);
      }
      expect(fake.said().length).toBeGreaterThan(1);
    },
  );

  it('is not ended by the result of a turn that Claude Code began by itself, which is interrupted', async () => {
    const { session, names, events } = await openClaude({
      turns: [
        { match: 'first', steps: [{ thenAlone: [{ say: 'alone' }, { forever: true }] }, { say: 'one' }] },
        { match: 'second', steps: [{ say: 'two' }] },
      ],
    });
    expect(await session.runTurn('first')).toMatchObject({ status: 'completed', message: 'one' });
    await expect.poll(() => events.some(({ summary }) => /by itself/.test(summary))).toBe(true);
    expect(await session.runTurn('second')).toMatchObject({ status: 'completed', message: 'two' });
    expect(names().filter((name) => name.startsWith('turn_'))).toEqual([
      ...['turn_started', 'turn_completed', 'turn_started', 'turn_completed'],
    ]);
  });

  it('works with an older version that does not say what it has read', async () => {
    const { session, names } = await openClaude({ ...turn({ say: 'done' }), isOlder: true });
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed', message: 'done' });
    expect(names()).toContain('turn_started');
  });

  it('cannot begin while an interrupted one does not end', async () => {
    const { session } = await openClaude({ ...turn({ say: 'x' }, { forever: true }), isStubborn: true });
    const giveUp = new AbortController();
    const first = session.runTurn('go', giveUp.signal);
    await expect.poll(() => session.steer?.('hm')).toBe(true);
    giveUp.abort();
    expect(await first).toEqual({ status: 'cancelled' });
    expect(await session.runTurn('again')).toMatchObject({ status: 'failed', error: { code: 'agent_protocol_error' } });
  });

  it.each([
    [{ is_error: true, terminal_reason: 'prompt_too_long' }, 'agent_context_exhausted', { kind: 'token' }],
    [{ is_error: true, terminal_reason: 'blocking_limit' }, 'agent_context_exhausted', { kind: 'token' }],
    [
      { is_error: true, terminal_reason: 'api_error', api_error_status: 413 },
      'agent_context_exhausted',
      { kind: 'context' },
    ],
    [{ is_error: true, terminal_reason: 'api_error', api_error_status: 401 }, 'agent_auth_failed', {}],
    [
      { is_error: true, terminal_reason: 'api_error', api_error_status: 429 },
      'agent_quota_exhausted',
      { may_be_rate_limit: true },
    ],
    [
      { is_error: true, terminal_reason: 'api_error', api_error_status: 402 },
      'agent_quota_exhausted',
      { billing: true },
    ],
    [{ is_error: false, terminal_reason: 'max_turns', subtype: 'error_max_turns' }, 'agent_turn_failed', {}],
    [{ is_error: false, terminal_reason: 'aborted_tools' }, 'agent_turn_failed', {}],
    [{ is_error: true, subtype: 'success', terminal_reason: 'completed' }, 'agent_turn_failed', {}],
  ])('that ends with %j fails with %s', async (fields, code, details) => {
    const { session } = await openClaude(turn({ end: fields }));
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code, details } });
  });

  it('with denied tools is completed, and names them', async () => {
    const permission_denials = [{ tool_name: 'Bash' }, { tool_name: 'Bash' }, { tool_name: 'Write' }];
    const { session, events } = await openClaude(turn({ end: { result: 'ok', permission_denials } }));
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    expect(events.map(({ payload }) => payload)).toContainEqual(permission_denials);
  });

  it('fails with the end of the error output when the program exits', async () => {
    const { session } = await openClaude(turn({ stderr: 'out of paper\n' }, { exit: 0 }));
    const error = { code: 'agent_exited', details: { exit_code: 0, stderr: 'out of paper' } };
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error });
  });

  it('survives noise, and reports messages that it does not know', async () => {
    const { session, names } = await openClaude(
      turn({ raw: 'hello\n{"type":\n[1]\n' }, { send: { type: 'something_new', x: 1 } }, { say: 'done' }),
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    expect(names()).toEqual(expect.arrayContaining(['malformed', 'other_message']));
  });
});

describe('a session of Claude Code', () => {
  it('reads no settings of a repository and no other MCP servers, whatever the workspace has', async () => {
    const { fake } = await openClaude({});
    const argv = fake.trace()[0]?.started?.argv ?? [];
    expect(argv[argv.indexOf('--setting-sources') + 1]).toBe('user');
    expect(argv).toContain('--strict-mcp-config');
    expect(argv[argv.indexOf('--mcp-config') + 1]).toBe('{"mcpServers":{}}');
  });

  it("gets Baton's tools with the token of the run in a variable, not in an argument", async () => {
    const toolAddress = { url: 'http://127.0.0.1:1/mcp', token: 'a-secret-token' };
    const { fake } = await openClaude({}, { request: { toolAddress } });
    const argv = fake.trace()[0]?.started?.argv ?? [];
    expect(argv.join(' ')).toContain(toolAddress.url);
    expect(argv.join(' ')).not.toContain(toolAddress.token);
    expect(argv).toContain('mcp__baton');
  });

  it('passes on the settings of the workflow, with its own arguments last', async () => {
    const options = {
      model: 'opus',
      permissionMode: 'plan',
      allowedTools: ['Bash(npm test *)'],
      sandbox: { enabled: true },
      args: ['--effort', 'high'],
    } as const;
    const { fake } = await openClaude({}, { options });
    const argv = fake.trace()[0]?.started?.argv ?? [];
    const flagged = (flag: string): string => argv[argv.indexOf(flag) + 1] ?? '';
    expect([flagged('--model'), flagged('--permission-mode'), flagged('--allowedTools')]).toEqual([
      'opus',
      'plan',
      'Bash(npm test *)',
    ]);
    expect(JSON.parse(flagged('--settings'))).toEqual({
      sandbox: { allowUnsandboxedCommands: false, enabled: true, failIfUnavailable: true },
    });
    expect(argv.slice(-2)).toEqual(['--effort', 'high']);
  });

  it('has no tools that edit files in a read-only session, and asks for all that no rule allows', async () => {
    const options = {
      permissionMode: 'bypassPermissions',
      allowedTools: ['Bash(npm test *)'],
      disallowedTools: ['WebSearch'],
      args: ['--permission-mode', 'acceptEdits', '--disallowedTools', 'Task'],
    } as const;
    const { fake } = await openClaude({}, { options, request: { isReadOnly: true } });
    const argv = fake.trace()[0]?.started?.argv ?? [];
    const flagged = (flag: string): string => argv[argv.lastIndexOf(flag) + 1] ?? '';
    expect([flagged('--permission-mode'), flagged('--allowedTools')]).toEqual(['default', 'Bash(npm test *)']);
    const denied = argv.slice(argv.lastIndexOf('--disallowedTools'));
    expect(denied).toEqual(expect.arrayContaining(['Edit', 'Write', 'NotebookEdit', 'WebSearch', 'EnterWorktree']));
    expect(JSON.parse(flagged('--settings'))).toEqual({ sandbox: { autoAllowBashIfSandboxed: false } });
  });

  it('uses another model, or a smaller window, after a full context', async () => {
    const { fake } = await openClaude({}, { request: { recovery: { model: 'fable', budgetTokens: 50_000 } } });
    const argv = fake.trace()[0]?.started?.argv ?? [];
    expect(argv[argv.indexOf('--model') + 1]).toBe('fable');
    expect(argv[argv.indexOf('--autocompact') + 1]).toBe('100000');
  });

  it.each([
    ['compacts the conversation before its first turn', [{ say: 'short' }], false],
    [
      'continues as it is when that fails',
      [{ send: { type: 'system', subtype: 'status', compact_result: 'failed' } }],
      true,
    ],
  ] as const)('%s', async (_, steps, isTold) => {
    const { session, fake, names, events } = await openClaude(
      { turns: [{ match: '/compact', steps }, { steps: [{ say: 'done' }] }] },
      { request: { threadId: '11111111-1111-4111-8111-111111111111', recovery: { compact: true } } },
    );
    expect(session.isResumed).toBe(true);
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    expect(fake.said()).toEqual(['/compact', 'go']);
    expect(names().filter((name) => name.startsWith('turn_'))).toEqual(['turn_started', 'turn_completed']);
    expect(events.some(({ summary }) => summary.startsWith('failed to compact'))).toBe(isTold);
  });

  it('makes the folder of its conversations, which the isolation would otherwise hide', async () => {
    const home = path.join(mkdtempSync(path.join(tmpdir(), 'baton-claude-home-')), 'new');
    onTestFinished(() => rmSync(path.dirname(home), { recursive: true }));
    await openClaude({}, { parts: { accountEnv: { CLAUDE_CONFIG_DIR: home } } });
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it('fails to start when the program does not answer, and leaves no process', async () => {
    const processes: unknown[] = [];
    const request = { onProcess: (each: unknown) => void processes.push(each), signal: AbortSignal.timeout(1_500) };
    await expect(openClaude({ initialize: 'silence' }, { request })).rejects.toThrow();
    expect(processes).toEqual([expect.anything(), null]);
  });
});

describe('a request of Claude Code for permission', () => {
  const bash = permission(
    'Bash',
    { command: 'npm test', description: 'Looks harmless' },
    {
      permission_suggestions: [
        { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow', destination: 'localSettings' },
        { type: 'setMode', mode: 'bypassPermissions', destination: 'session' },
      ],
    },
  );

  it('is shown whole and answered by a person', async () => {
    const { ask, asked } = person({ decision: 'accept', values: {} });
    const { session, fake } = await openClaude(turn(bash, { say: 'done' }), { request: { ask } });
    await session.runTurn('go');
    expect(asked).toMatchObject([{ kind: 'command', requestHash: expect.any(String) }]);
    expect(asked[0]?.detail).toContain('npm test');
    const input = { command: 'npm test', description: 'Looks harmless' };
    expect(fake.answers()).toMatchObject([{ response: { behavior: 'allow', updatedInput: input } }]);
    expect(JSON.stringify(fake.answers())).not.toContain('updatedPermissions');
  });

  it('is allowed for the session without a word in a settings file or another mode', async () => {
    const { ask } = person({ decision: 'accept_for_session', values: {} });
    const { session, fake } = await openClaude(turn(bash, { say: 'done' }), { request: { ask } });
    await session.runTurn('go');
    const rule = { type: 'addRules', rules: [{ toolName: 'Bash' }], behavior: 'allow', destination: 'session' };
    expect(fake.answers()).toMatchObject([{ response: { behavior: 'allow', updatedPermissions: [rule] } }]);
  });

  it.each([
    ['deny', 'deny', 'notification'],
    ['auto', 'allow', 'approval_auto_approved'],
  ] as const)('is answered by the policy %s', async (approvals, behavior, name) => {
    const { ask, asked } = person(null);
    const { session, fake, names } = await openClaude(turn(bash, { say: 'done' }), {
      request: { ask },
      options: { approvals },
    });
    await session.runTurn('go');
    expect(asked).toEqual([]);
    expect(fake.answers()).toMatchObject([{ response: { behavior } }]);
    expect(names()).toContain(name);
  });

  it.each([
    ['Bash', { command: 'npm test' }, 'deny'],
    ['Write', { file_path: '/w/a.ts', content: '' }, 'deny'],
    ['mcp__other__send', { to: 'someone' }, 'deny'],
    ['Read', { file_path: '/etc/hosts' }, 'allow'],
    ['WebFetch', { url: 'https://example.org' }, 'allow'],
  ])('to use %s with %j gets "%s" in a read-only session, even when all is approved', async (tool, input, behavior) => {
    const { session, fake } = await openClaude(turn(permission(tool, input), { say: 'done' }), {
      options: { approvals: 'auto' },
      request: { isReadOnly: true },
    });
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    expect(fake.answers()).toMatchObject([{ response: { behavior } }]);
  });

  it('is declined with a reason when a person could not see all of it', async () => {
    const { ask, asked } = person({ decision: 'accept', values: {} });
    const long = permission('Write', { file_path: '/a', content: 'x'.repeat(40_000) });
    const { session, fake } = await openClaude(turn(long, { say: 'done' }), { request: { ask } });
    await session.runTurn('go');
    expect(asked).toEqual([]);
    expect(fake.answers()).toMatchObject([
      { response: { behavior: 'deny', message: expect.stringContaining('longer than') } },
    ]);
  });

  it.each([
    ['Edit', { file_path: '/w/a.ts', old_string: 'one', new_string: 'two' }, 'file_change', ['/w/a.ts', 'one', 'two']],
    ['mcp__other__send', { to: 'someone' }, 'tool', ['other', 'send', 'someone']],
    ['WebFetch', { url: 'https://example.org' }, 'tool', ['WebFetch', 'https://example.org']],
  ])('to use %s shows everything that it is about', async (tool, input, kind, shown) => {
    const { ask, asked } = person(null);
    const { session } = await openClaude(turn(permission(tool, input), { say: 'done' }), { request: { ask } });
    await session.runTurn('go');
    expect(asked).toMatchObject([{ kind }]);
    for (const text of shown) expect(`${asked[0]?.text}\n${asked[0]?.detail}`).toContain(text);
  });

  it('of an unknown kind gets an error, and one of a hook lets the work continue', async () => {
    const { session, fake } = await openClaude(
      turn({ ask: { subtype: 'mind_reading' } }, { ask: { subtype: 'hook_callback' } }, { say: 'done' }),
    );
    await session.runTurn('go');
    expect(fake.answers()).toMatchObject([{ subtype: 'error' }, { subtype: 'success', response: {} }]);
  });

  it('is withdrawn when Claude Code no longer waits for it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ask: SessionRequest['ask'] = (_, signal) =>
      new Promise((answer) =>
        signal?.addEventListener('abort', () => {
          resolve();
          answer(null);
        }),
      );
    const cancel = { send: { type: 'control_cancel_request', request_id: 'request-1' } };
    const asking = {
      send: {
        type: 'control_request',
        request_id: 'request-1',
        request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' } },
      },
    };
    const { session, fake } = await openClaude(turn(asking, cancel, { say: 'done' }), { request: { ask } });
    await session.runTurn('go');
    await promise;
    expect(fake.answers()).toEqual([]);
  });
});

describe('a question of Claude Code', () => {
  const questions = [
    {
      question: 'Which colour?',
      header: 'Colour',
      options: [
        { label: 'Red', description: 'warm' },
        { label: 'Blue', description: 'cold' },
      ],
    },
  ];
  const question = permission('AskUserQuestion', { questions });

  it('is answered by a person, in the words of its tool', async () => {
    const { ask, asked } = person({ decision: 'accept', values: { 'Which colour?': 'Blue' } });
    const { session, fake } = await openClaude(turn(question, { say: 'done' }), { request: { ask } });
    await session.runTurn('go');
    expect(asked).toMatchObject([
      { kind: 'input', fields: [{ name: 'Which colour?', options: ['Red', 'Blue'], allowsOther: true }] },
    ]);
    const updatedInput = { questions, answers: { 'Which colour?': 'Blue' } };
    expect(fake.answers()).toMatchObject([{ response: { behavior: 'allow', updatedInput } }]);
  });

  it('gets the answer that no one is there, also when approvals are automatic', async () => {
    const { ask } = person(null);
    const { session, fake } = await openClaude(turn(question, { say: 'done' }), {
      request: { ask },
      options: { approvals: 'auto' },
    });
    await session.runTurn('go');
    expect(fake.answers()).toMatchObject([{ response: { behavior: 'deny' } }]);
  });

  it('of an MCP server is a form for a person', async () => {
    const requested_schema = { type: 'object', properties: { age: { type: 'integer' } } };
    const elicitation = {
      ask: { subtype: 'elicitation', mcp_server_name: 'other', message: 'How old?', mode: 'form', requested_schema },
    };
    const { ask, asked } = person({ decision: 'accept', values: { age: '7' } });
    const { session, fake } = await openClaude(turn(elicitation, { say: 'done' }), { request: { ask } });
    await session.runTurn('go');
    expect(asked).toMatchObject([{ fields: [{ name: 'age' }] }]);
    expect(fake.answers()).toMatchObject([{ response: { action: 'accept', content: { age: 7 } } }]);
  });
});

describe('what Claude Code reports', () => {
  it('is counted once for each call of the model, and exactly at the end of a turn', async () => {
    const usage = {
      input_tokens: 1_000,
      cache_read_input_tokens: 500,
      cache_creation_input_tokens: 100,
      output_tokens: 10,
    };
    const message = { id: 'm', model: 'claude-opus-5-5', content: [{ type: 'text', text: 'a' }], usage };
    const again = { send: { type: 'assistant', message }, times: 3 };
    const exact = {
      'claude-opus-5-5': {
        inputTokens: 2_000,
        outputTokens: 50,
        cacheReadInputTokens: 500,
        cacheCreationInputTokens: 0,
        costUSD: 0.5,
      },
    };
    // Cumulative figures of the conversation are not those of the session.
    const end = { end: { result: 'ok', total_cost_usd: 99, model_usage_since_last_result: exact } };
    const { session, events } = await openClaude(turn(again, end));
    await session.runTurn('go');
    await session.runTurn('go');
    const reports = events.flatMap((event) => event.usage ?? []);
    expect(reports[0]).toMatchObject({
      inputTokens: 1_600,
      cachedInputTokens: 500,
      outputTokens: 10,
      model: 'claude-opus-5-5',
    });
    expect(reports[0]?.costMicroUsd).toBe(1_100 * 4 + 500 * 0.2 + 10 * 20);
    expect(reports.at(-1)).toMatchObject({
      inputTokens: 5_000,
      outputTokens: 100,
      totalTokens: 5_100,
      costMicroUsd: 1_000_000,
    });
  });

  it('has no cost when the workflow file has a price', async () => {
    const prices = { '*': { input: 1, cachedInput: null, output: 1 } };
    const { session, events } = await openClaude(turn({ say: 'x' }), { options: { prices } });
    await session.runTurn('go');
    const reports = events.flatMap((event) => event.usage ?? []);
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.filter(({ costMicroUsd }) => costMicroUsd !== undefined)).toEqual([]);
  });

  it('brings the windows of a quota, and when a used-up one resets', async () => {
    const soon = Math.floor(Date.now() / 1000) + 3_600;
    const unifiedWindows = {
      five_hour: { utilization: 1, resetsAt: soon },
      seven_day_opus: { utilization: 0.5, resetsAt: soon },
    };
    const info = { status: 'rejected', resetsAt: soon, rateLimitType: 'five_hour', unifiedWindows };
    const limit = { send: { type: 'rate_limit_event', rate_limit_info: info } };
    const { session, events } = await openClaude(
      turn(limit, { end: { is_error: true, terminal_reason: 'api_error', api_error_status: 429 } }),
    );
    const error = { code: 'agent_quota_exhausted', details: { resets_at: soon * 1_000 } };
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error });
    expect(events.flatMap(({ quota }) => quota ?? [])).toEqual([
      { name: 'five_hour', usedPercent: 100, windowMinutes: 300, resetsAt: soon * 1_000 },
      { name: 'seven_day_opus', usedPercent: 50, windowMinutes: null, resetsAt: soon * 1_000, isOther: true },
    ]);
  });

  it('is in the vocabulary of all transcripts', async () => {
    const thinking = {
      send: { type: 'assistant', message: { id: 't', content: [{ type: 'thinking', thinking: 'hm' }] } },
    };
    const { session, events } = await openClaude(
      turn(
        thinking,
        { say: 'hello' },
        { call: 'Bash', input: { command: 'false' }, result: 'Exit code 1\nno', isError: true },
        { call: 'Edit', input: { file_path: '/w/a', old_string: 'x', new_string: 'y' }, result: 'done' },
        { call: 'mcp__other__find', input: { query: 'q' }, result: 'found' },
        { call: 'Read', input: { file_path: '/w/a' }, result: 'y' },
        { call: 'TodoWrite', input: { todos: [{ content: 'First', status: 'in_progress' }] }, result: 'ok' },
        { say: 'done' },
      ),
    );
    await session.runTurn('go');
    const payloads = events.flatMap(
      ({ payload }) => (payload ?? []) as { method?: string; params?: { item?: object } },
    );
    const completed = payloads.flatMap(({ method, params }) => (method === 'item/completed' ? [params?.item] : []));
    expect(completed).toMatchObject([
      { type: 'reasoning', summary: ['hm'] },
      { type: 'agentMessage', text: 'hello' },
      { type: 'commandExecution', command: 'false', exitCode: 1, status: 'failed' },
      { type: 'fileChange', changes: [{ path: '/w/a', diff: '-x\n+y\n' }], status: 'completed' },
      { type: 'mcpToolCall', server: 'other', tool: 'find', arguments: { query: 'q' }, result: 'found' },
      { type: 'toolCall', tool: 'Read', result: 'y' },
      { type: 'toolCall', tool: 'TodoWrite' },
      { type: 'agentMessage', text: 'done' },
    ]);
    const plan = [{ step: 'First', status: 'inProgress' }];
    expect(payloads).toContainEqual({ method: 'turn/plan/updated', params: { plan } });
  });

  it('does not count as silence while a tool of Baton works', async () => {
    const toolAddress = { url: 'http://127.0.0.1:1/mcp', token: 'token' };
    const message = { id: 'm', content: [{ type: 'tool_use', id: 'c', name: 'mcp__baton__ask_person', input: {} }] };
    const { session } = await openClaude(
      turn({ send: { type: 'assistant', message } }, { waitMs: 3_000 }, { say: 'done' }),
      { request: { toolAddress }, options: { turnTimeoutMs: 1_000 } },
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
  });
});
